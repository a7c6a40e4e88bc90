// Converters of ONNX's shape, index, window, sequence and control operators; converters.h has the
// others, converters.cpp the list.
#pragma once

#include <array>

#include "compiler/frontend/onnx/converters.h"

namespace attune::onnx {

using Extents = std::vector<std::int64_t>;

// Elements start … start + size - 1 of one dimension; the value itself if these are all.
Result<ValueId> slice_axis(NodeContext& node, ValueId value, std::int64_t axis, std::int64_t start,
                           std::int64_t size);
// The value itself if the order is that already.
Result<ValueId> transpose(NodeContext& node, ValueId value, Extents perm);

// The one element of a constant, as an integer; nothing if it is no such constant.
std::optional<std::int64_t> known_number(NodeContext& node, ValueId value);

// convert_movement.cpp
Converted convert_reshape(NodeContext& node);
Converted convert_squeeze(NodeContext& node);
Converted convert_unsqueeze(NodeContext& node);
Converted convert_flatten(NodeContext& node);
Converted convert_transpose(NodeContext& node);
Converted convert_slice(NodeContext& node);
Converted convert_concat(NodeContext& node);
Converted convert_split(NodeContext& node);
Converted convert_expand(NodeContext& node);
Converted convert_tile(NodeContext& node);
Converted convert_depth_to_space(NodeContext& node);
Converted convert_space_to_depth(NodeContext& node);

// convert_dynamic.cpp
Converted convert_dynamic_slice(NodeContext& node);
Converted convert_dynamic_range(NodeContext& node);
// An operator of ONNX as a function of the runtime, with a result of at most this type.
Result<ValueId> add_on_host(NodeContext& node, const std::string& op, std::vector<ValueId> inputs,
                            Attributes attributes, const TensorType& result);

// convert_index.cpp
Converted convert_gather(NodeContext& node);
Converted convert_gather_elements(NodeContext& node);
Converted convert_gather_nd(NodeContext& node);
Converted convert_scatter_elements(NodeContext& node);
Converted convert_scatter_nd(NodeContext& node);
Converted convert_tensor_scatter(NodeContext& node);
Converted convert_one_hot(NodeContext& node);
Converted convert_eye_like(NodeContext& node);
Converted convert_range(NodeContext& node);
Converted convert_trilu(NodeContext& node);
Converted convert_reverse_sequence(NodeContext& node);

// convert_pad.cpp
Converted convert_pad(NodeContext& node);
Converted convert_center_crop_pad(NodeContext& node);

// convert_resize.cpp
Converted convert_resize(NodeContext& node);
Converted convert_upsample(NodeContext& node);

// convert_search.cpp
Converted convert_compress(NodeContext& node);
Converted convert_non_zero(NodeContext& node);
Converted convert_unique(NodeContext& node);
Converted convert_top_k(NodeContext& node);
Converted convert_non_max_suppression(NodeContext& node);

// convert_conv.cpp
Converted convert_conv(NodeContext& node);
Converted convert_conv_transpose(NodeContext& node);
Converted convert_conv_integer(NodeContext& node);
Converted convert_qlinear_conv(NodeContext& node);
Converted convert_deform_conv(NodeContext& node);
Converted convert_col2im(NodeContext& node);

// convert_pool.cpp
Converted convert_max_pool(NodeContext& node);
Converted convert_average_pool(NodeContext& node);
Converted convert_lp_pool(NodeContext& node);
Converted convert_global_average_pool(NodeContext& node);
Converted convert_global_max_pool(NodeContext& node);
Converted convert_global_lp_pool(NodeContext& node);
Converted convert_max_unpool(NodeContext& node);
Converted convert_roi_align(NodeContext& node);
Converted convert_max_roi_pool(NodeContext& node);

// convert_sample.cpp
Converted convert_grid_sample(NodeContext& node);
Converted convert_affine_grid(NodeContext& node);

// convert_signal.cpp
Converted convert_window(NodeContext& node);
Converted convert_mel_weight_matrix(NodeContext& node);
Converted convert_dft(NodeContext& node);
Converted convert_stft(NodeContext& node);

// convert_rnn.cpp
Converted convert_rnn(NodeContext& node);
Converted convert_gru(NodeContext& node);
Converted convert_lstm(NodeContext& node);
Converted convert_dynamic_quantize_lstm(NodeContext& node);

// convert_control.cpp
Converted convert_if(NodeContext& node);
Converted convert_scan(NodeContext& node);

// convert_loop.cpp
Converted convert_loop(NodeContext& node);

}  // namespace attune::onnx
