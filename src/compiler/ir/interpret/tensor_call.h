// A call of a tensor intrinsic, run as its declaration says: gathers its operands from memory,
// computes its meaning element by element, and writes the output back.
#pragma once

#include <vector>

#include "compiler/ir/interpret/evaluate.h"
#include "compiler/ir/tensor_intrinsics/tensor_intrinsic.h"

namespace attune::ir {

class TensorCall {
 public:
  // The intrinsic must be declared and the call have the arguments that it asks for.
  static Result<TensorCall> compile(const Opaque& call, const TensorIntrinsic& intrinsic,
                                    Evaluator& evaluator);
  void run(Frame& frame) const;
  std::int64_t cycles() const { return cycles_; }

 private:
  struct Operand {
    const Access* access = nullptr;
    std::vector<std::int64_t> strides, shape;
  };
  // Calls `each` with an element's number in the operand and its position in memory; false after a
  // failure.
  template <typename Each>
  bool visit(const Operand& operand, Frame& frame, const char* action, Each&& each) const;

  std::int64_t cycles_ = 0;
  std::vector<Operand> operands_;  // the output first
  std::shared_ptr<Evaluator> meaning_;
  const Node* update_ = nullptr;                  // the accumulator combined with one value
  std::size_t accumulator_ = 0;                   // its slot
  std::vector<std::int64_t> axes_, reduce_axes_;  // extents; their variables have the first slots
};

}  // namespace attune::ir
