// What a tensor intrinsic computes, on tiles of values: the reduction of its meaning, element by
// element, added to what the output holds.
#pragma once

#include <memory>
#include <vector>

#include "compiler/ir/interpret/evaluate.h"
#include "compiler/ir/tensor_intrinsics/tensor_intrinsic.h"

namespace attune::ir {

class TensorMeaning {
 public:
  using Tile = std::vector<Value>;  // row-major

  static Result<TensorMeaning> compile(const TensorIntrinsic& intrinsic);
  // By operand, the output first.
  const std::vector<Buffer>& operands() const { return operands_; }
  // The new output, from what the operands hold.
  Tile compute(const std::vector<Tile>& tiles) const;
  // An element of an input, as it is computed with.
  Value rounded(Value element) const;

 private:
  std::vector<Buffer> operands_;
  std::shared_ptr<Evaluator> evaluator_;
  const Node* update_ = nullptr;                  // the accumulator combined with one value
  const Node* rounding_ = nullptr;                // of an element, or null
  std::size_t accumulator_ = 0, element_ = 0;     // their slots
  std::vector<std::int64_t> axes_, reduce_axes_;  // extents; their variables have the first slots
};

// Goes through all points of a box, the last dimension fastest.
template <typename Each>
void for_each_point(const std::vector<std::int64_t>& extents, Each&& each) {
  std::vector<std::int64_t> point(extents.size(), 0);
  while (true) {
    each(point);
    std::size_t d = extents.size();
    while (d > 0 && ++point[d - 1] == extents[d - 1]) point[--d] = 0;
    if (d == 0) return;
  }
}

}  // namespace attune::ir
