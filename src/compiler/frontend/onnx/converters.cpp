#include "compiler/frontend/onnx/converters.h"

#include <map>
#include <string>
#include <utility>

#include "compiler/frontend/onnx/shape_converters.h"

namespace attune::onnx {
namespace {

// clang-format off
// One line each: domain, operator, converter, least and most inputs, attributes.
constexpr Converter kConverters[] = {
    {"", "Constant", convert_constant, 0, 0, "value sparse_value value_float value_floats value_int value_ints value_string value_strings"},
    {"", "ConstantOfShape", convert_constant_of_shape, 1, 1, "value"},
    {"", "Identity", convert_identity, 1, 1, ""},
    {"", "Shape", convert_shape, 1, 1, "start end"},
    {"", "Size", convert_size, 1, 1, ""},
    {"", "Reshape", convert_reshape, 1, 2, "shape allowzero"},
    {"", "Squeeze", convert_squeeze, 1, 2, "axes"},
    {"", "Unsqueeze", convert_unsqueeze, 1, 2, "axes"},
    {"", "Flatten", convert_flatten, 1, 1, "axis"},
    {"", "Transpose", convert_transpose, 1, 1, "perm"},
    {"", "Slice", convert_slice, 1, 5, "starts ends axes"},
    {"", "Concat", convert_concat, 1, kAnyNumber, "axis"},
    {"", "Split", convert_split, 1, 2, "axis split num_outputs"},
    {"", "Expand", convert_expand, 2, 2, ""},
    {"", "Tile", convert_tile, 2, 2, ""},
    {"", "DepthToSpace", convert_depth_to_space, 1, 1, "blocksize mode"},
    {"", "SpaceToDepth", convert_space_to_depth, 1, 1, "blocksize"},
    {"", "Gather", convert_gather, 2, 2, "axis"},
    {"", "GatherElements", convert_gather_elements, 2, 2, "axis"},
    {"", "GatherND", convert_gather_nd, 2, 2, "batch_dims"},
    {"", "Scatter", convert_scatter_elements, 3, 3, "axis"},
    {"", "ScatterElements", convert_scatter_elements, 3, 3, "axis reduction"},
    {"", "ScatterND", convert_scatter_nd, 3, 3, "reduction"},
    {"", "TensorScatter", convert_tensor_scatter, 2, 3, "axis mode"},
    {"", "OneHot", convert_one_hot, 3, 3, "axis"},
    {"", "EyeLike", convert_eye_like, 1, 1, "dtype k"},
    {"", "Range", convert_range, 3, 3, "stash_type"},
    {"", "Trilu", convert_trilu, 1, 2, "upper"},
    {"", "ReverseSequence", convert_reverse_sequence, 2, 2, "batch_axis time_axis"},
    {"", "Pad", convert_pad, 1, 4, "mode pads value"},
    {"", "CenterCropPad", convert_center_crop_pad, 2, 2, "axes"},
    {"", "Resize", convert_resize, 1, 4, "mode coordinate_transformation_mode nearest_mode cubic_coeff_a exclude_outside extrapolation_value antialias axes keep_aspect_ratio_policy"},
    {"", "Upsample", convert_upsample, 1, 2, "mode scales"},
    {"", "Compress", convert_compress, 2, 2, "axis"},
    {"", "NonZero", convert_non_zero, 1, 1, ""},
    {"", "Unique", convert_unique, 1, 1, "axis sorted"},
    {"", "TopK", convert_top_k, 1, 2, "axis k largest sorted"},
    {"", "NonMaxSuppression", convert_non_max_suppression, 2, 5, "center_point_box"},
    {"", "Conv", convert_conv, 2, 3, "auto_pad dilations group kernel_shape pads strides"},
    {"", "ConvTranspose", convert_conv_transpose, 2, 3, "auto_pad dilations group kernel_shape output_padding output_shape pads strides"},
    {"", "ConvInteger", convert_conv_integer, 2, 4, "auto_pad dilations group kernel_shape pads strides"},
    {"", "QLinearConv", convert_qlinear_conv, 8, 9, "auto_pad dilations group kernel_shape pads strides"},
    {"", "DeformConv", convert_deform_conv, 3, 5, "dilations group kernel_shape offset_group pads strides"},
    {"", "Col2Im", convert_col2im, 3, 3, "dilations pads strides"},
    {"", "MaxPool", convert_max_pool, 1, 1, "auto_pad ceil_mode dilations kernel_shape pads storage_order strides"},
    {"", "AveragePool", convert_average_pool, 1, 1, "auto_pad ceil_mode count_include_pad dilations kernel_shape pads strides"},
    {"", "LpPool", convert_lp_pool, 1, 1, "auto_pad ceil_mode dilations kernel_shape p pads strides"},
    {"", "GlobalAveragePool", convert_global_average_pool, 1, 1, ""},
    {"", "GlobalMaxPool", convert_global_max_pool, 1, 1, ""},
    {"", "GlobalLpPool", convert_global_lp_pool, 1, 1, "p"},
    {"", "MaxUnpool", convert_max_unpool, 2, 3, "kernel_shape pads strides"},
    {"", "RoiAlign", convert_roi_align, 3, 3, "coordinate_transformation_mode mode output_height output_width sampling_ratio spatial_scale"},
    {"", "MaxRoiPool", convert_max_roi_pool, 2, 2, "pooled_shape spatial_scale"},
    {"", "GridSample", convert_grid_sample, 2, 2, "align_corners mode padding_mode"},
    {"", "AffineGrid", convert_affine_grid, 2, 2, "align_corners"},
    {"", "HannWindow", convert_window, 1, 1, "output_datatype periodic"},
    {"", "HammingWindow", convert_window, 1, 1, "output_datatype periodic"},
    {"", "BlackmanWindow", convert_window, 1, 1, "output_datatype periodic"},
    {"", "MelWeightMatrix", convert_mel_weight_matrix, 5, 5, "output_datatype"},
    {"", "DFT", convert_dft, 1, 3, "axis inverse onesided"},
    {"", "STFT", convert_stft, 2, 4, "onesided"},
    {"", "RNN", convert_rnn, 3, 6, "activation_alpha activation_beta activations clip direction hidden_size layout"},
    {"", "GRU", convert_gru, 3, 6, "activation_alpha activation_beta activations clip direction hidden_size layout linear_before_reset"},
    {"", "LSTM", convert_lstm, 3, 8, "activation_alpha activation_beta activations clip direction hidden_size input_forget layout"},
    {"com.microsoft", "DynamicQuantizeLSTM", convert_dynamic_quantize_lstm, 12, 12, "activation_alpha activation_beta activations clip direction hidden_size input_forget"},
    {"", "If", convert_if, 1, 1, "then_branch else_branch"},
    {"", "Loop", convert_loop, 0, kAnyNumber, "body"},
    {"", "Scan", convert_scan, 1, kAnyNumber, "body num_scan_inputs directions scan_input_axes scan_input_directions scan_output_axes scan_output_directions"},
};
// clang-format on

}  // namespace

std::span<const Converter> converters() { return kConverters; }

const Converter* find_converter(std::string_view domain, std::string_view op) {
  using Key = std::pair<std::string_view, std::string_view>;
  static const std::map<Key, const Converter*> table = [] {
    std::map<Key, const Converter*> result;
    for (const Converter& entry : kConverters) result.emplace(Key{entry.domain, entry.op}, &entry);
    return result;
  }();
  const auto found = table.find({domain, op});
  return found == table.end() ? nullptr : found->second;
}

}  // namespace attune::onnx
