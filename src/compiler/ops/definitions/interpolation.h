// Values of a tensor between its elements: what grid sampling, deformable convolutions and regions
// of interest read. Places are real numbers, one per spatial dimension.
#pragma once

#include <functional>
#include <vector>

#include "compiler/ops/definitions/indexing.h"

namespace attune::ops {

// The element at integer places, whatever they are: outside of the tensor it decides what to give.
using Pixel = std::function<ir::Expr(const std::vector<ir::Expr>& places)>;

// One dimension: the integer places around a real one, and their weights.
struct Taps {
  std::vector<ir::Expr> places, weights;
};
Taps nearest_tap(const ir::Expr& place);
Taps linear_taps(const ir::Expr& place);
Taps cubic_taps(const ir::Expr& place);  // with a = -0.75

// The sum of pixels, each weighted by the product of its weights.
ir::Expr interpolate(const std::vector<Taps>& dimensions, const Pixel& pixel);

// Pixels of `data` that are 0 outside of it; `leading` are the indices in front of the spatial
// ones.
Pixel pixels_or_zero(const Read& data, const Shape& spatial, std::vector<ir::Expr> leading,
                     ir::DType type);

}  // namespace attune::ops
