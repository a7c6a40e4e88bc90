// A reduction seen as a matrix product: which axes are rows of the left operand, which are columns
// of the right one, which are summed over, and along which of each it is cut into tiles. Products
// of matrices, of batches of them, and convolutions over gathered columns are all of this form.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "compiler/ir/nodes/tensor_expr.h"
#include "compiler/schedule/step.h"
#include "tuner/space/findings.h"

namespace attune::templates {

// One of the two tensors. Each of its dimensions moves with axes of one role alone.
struct ProductOperand {
  ir::Buffer buffer;
  std::vector<bool> sums = {};  // by dimension: whether it moves with the axes that are summed over
  std::vector<bool> own = {};   // whether it moves with the operand's own axes
  // The dimensions of the product's `k_lane`, of `k_tile`, and of the axis that its own tiles are
  // cut along; -1: none.
  int lane = -1, steps = -1, tile = -1;

  // Steps of the sum lie side by side.
  bool tiles_k() const { return steps == static_cast<int>(buffer->shape.size()) - 1; }
};

struct ProductFacts {
  std::string stage;
  ProductOperand left, right;
  // Along which tiles are cut: the longest of their role, and how long.
  std::string m_tile = {}, n_tile = {}, k_tile = {};
  std::int64_t m = 1, n = 1, k = 1;
  // A short last axis that stays whole within a tile, the lane of a block of channels; "" and 1
  // where there is none.
  std::string n_lane = {}, k_lane = {};
  std::int64_t n_lanes = 1, k_lanes = 1;
  // All that is multiplied, and of it what the tile axes leave.
  double multiplications = 1;
  std::int64_t others = 1;   // axes of the result that are no tiles: pairs in a batch, images
  std::int64_t other_k = 1;  // further axes that are summed over
  // Where steps stand for several counters, as the taps of a window and its channels, the numbers
  // of steps after which one of them starts again: 3 and 9. Slabs of so many are found easily.
  std::vector<std::int64_t> turns = {};

  std::int64_t element_bytes = 4;
};

// Nothing when the stage is no such product.
std::optional<ProductFacts> product_of(const ir::Program& program, const ir::Stage& stage);
// The one with most multiplications that is computed when the program runs.
std::optional<ProductFacts> main_product(const space::Subject& subject);

// The axes of `host` that stand for each dimension of `buffer` where it reads that, outermost
// first: {oh, ow} for the dimension that it reads at oh * 56 + ow. Nothing when it reads it
// otherwise, at several places, or has axes besides.
std::optional<std::vector<schedule::Names>> axes_read_at(const ir::Stage& host,
                                                         const ir::Buffer& buffer);

}  // namespace attune::templates
