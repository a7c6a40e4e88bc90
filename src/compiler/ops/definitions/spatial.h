// Windows over any number of spatial dimensions, as the graph's convolutions and pools have them:
// attributes kernel_shape, strides, pads (all begins, then all ends) and dilations, on data
// [n, c, spatial…].
#pragma once

#include <string>
#include <vector>

#include "compiler/ops/definitions/indexing.h"
#include "compiler/ops/window.h"

namespace attune::ops {

// The window of each spatial dimension; says what does not fit together.
Result<std::vector<Window>> spatial_windows(const OpCall& call);
// {n, c} and the number of positions of each window.
Shape window_positions(std::int64_t n, std::int64_t c, const std::vector<Window>& windows);

// Reads the padded data; the padding is a stage of its own where there is some.
Read padded_data(ir::Program& program, const TensorType& type, const Read& data,
                 const std::vector<Window>& windows, const ir::Expr& fill);

// Axes r0, r1, … over the taps of the windows.
std::vector<ir::Axis> tap_axes(const std::vector<Window>& windows);
// Spatial indices into padded data: position * stride + tap * dilation, the positions being the
// dimensions of `index` from the third on.
std::vector<ir::Expr> tap_places(const std::vector<Window>& windows,
                                 const std::vector<ir::Expr>& index);
// The index variables of axes.
std::vector<ir::Expr> variables_of(const std::vector<ir::Axis>& axes);

}  // namespace attune::ops
