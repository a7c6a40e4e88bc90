#include "compiler/ops/definitions/spatial.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace attune::ops {

Result<std::vector<Window>> spatial_windows(const OpCall& call) {
  ATTUNE_RETURN_IF_ERROR(require_static(call));
  const Shape& data = call.inputs[0].shape;
  const Shape& kernel = call.integers("kernel_shape");
  const Shape& strides = call.integers("strides");
  const Shape& pads = call.integers("pads");
  const Shape& dilations = call.integers("dilations");
  const std::size_t rank = kernel.size();
  if (data.size() != rank + 2 || strides.size() != rank || pads.size() != 2 * rank ||
      dilations.size() != rank) {
    return does_not_fit(call, fmt::format("kernel_shape [{}], strides [{}], pads [{}] and "
                                          "dilations [{}] do not belong together",
                                          fmt::join(kernel, ","), fmt::join(strides, ","),
                                          fmt::join(pads, ","), fmt::join(dilations, ",")));
  }
  std::vector<Window> windows;
  for (std::size_t i = 0; i < rank; ++i) {
    windows.push_back({data[i + 2], kernel[i], strides[i], pads[i], pads[i + rank], dilations[i]});
    if (kernel[i] < 1 || strides[i] < 1 || dilations[i] < 1) {
      return does_not_fit(call, "sizes of kernels, strides and dilations are positive");
    }
  }
  return windows;
}

Shape window_positions(std::int64_t n, std::int64_t c, const std::vector<Window>& windows) {
  Shape shape{n, c};
  for (const Window& window : windows) shape.push_back(window.positions());
  return shape;
}

Read padded_data(ir::Program& program, const TensorType& type, const Read& data,
                 const std::vector<Window>& windows, const ir::Expr& fill) {
  Shape shape{type.shape[0], type.shape[1]};
  bool is_padded = false;
  for (const Window& window : windows) {
    shape.push_back(window.padded());
    is_padded |= window.pad_before != 0 || window.pad_after != 0;
  }
  if (!is_padded) return data;
  const std::vector<ir::Axis> axes = axes_of(shape);
  std::vector<ir::Expr> index = variables_of(axes);
  ir::Expr inside;
  for (std::size_t i = 0; i < windows.size(); ++i) {
    ir::Expr& place = index[i + 2];
    if (windows[i].pad_before != 0) place = place - ir::Expr(windows[i].pad_before);
    if (windows[i].pad_before > 0) require(inside, place >= 0);
    if (windows[i].pad_after > 0) require(inside, place < ir::Expr(windows[i].size));
  }
  const ir::Buffer buffer = ir::add_compute(program, free_stage_name(program, "pad"), axes,
                                            select_if(inside, data(index), fill));
  return [buffer](const std::vector<ir::Expr>& at) { return ir::load(buffer, at); };
}

std::vector<ir::Axis> tap_axes(const std::vector<Window>& windows) {
  Shape kernel;
  for (const Window& window : windows) kernel.push_back(window.kernel);
  return axes_of(kernel, "r");
}

std::vector<ir::Expr> tap_places(const std::vector<Window>& windows,
                                 const std::vector<ir::Expr>& index) {
  std::vector<ir::Expr> places;
  for (std::size_t i = 0; i < windows.size(); ++i) {
    places.push_back(scaled(index[i + 2], windows[i].stride) +
                     scaled(ir::var(fmt::format("r{}", i)), windows[i].dilation));
  }
  return places;
}

std::vector<ir::Expr> variables_of(const std::vector<ir::Axis>& axes) {
  std::vector<ir::Expr> index;
  for (const ir::Axis& axis : axes) index.push_back(ir::axis_var(axis));
  return index;
}

}  // namespace attune::ops
