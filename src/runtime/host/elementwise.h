// The loop around elementwise operators: inputs are broadcast to one shape and handed over in
// blocks of wide numbers, whatever their types.
#pragma once

#include <algorithm>
#include <vector>

#include "runtime/host/elements.h"
#include "runtime/host/operators.h"
#include "runtime/host/strides.h"

namespace attune::runtime::host {

class Broadcast {
 public:
  // Fails when the inputs of the call do not broadcast to one shape.
  static Result<Broadcast> of(const Call& call);

  const Shape& shape() const { return shape_; }

  // Calls visit(start, count) for pieces of at most kBlock elements; within one, input i is read by
  // load(), which puts the elements behind one another.
  template <typename Visit>
  void each_block(Visit visit) {
    std::int64_t start = 0;
    each_index(outer_, outer_ /* strides: each operand has its own */, 0,
               [&](const Shape& index, std::int64_t) {
                 for (std::int64_t done = 0; done < row_; done += kBlock) {
                   const std::int64_t count = std::min(kBlock, row_ - done);
                   for (Operand& operand : operands_) {
                     operand.start = done * operand.step;
                     for (std::size_t d = 0; d < index.rank(); ++d) {
                       operand.start += index[d] * operand.strides[d];
                     }
                   }
                   visit(start, count);
                   start += count;
                 }
               });
  }

  void load(double* to, std::size_t input, std::int64_t count) const;
  void load(std::int64_t* to, std::size_t input, std::int64_t count) const;

 private:
  struct Operand {
    const HostTensor* tensor = nullptr;
    Shape strides;           // of the outer axes
    std::int64_t step = 0;   // along a row
    std::int64_t start = 0;  // of the current block
  };

  Shape shape_;
  Shape outer_;
  std::int64_t row_ = 1;
  std::vector<Operand> operands_;
};

// What an operator does with a block: blocks[i] holds `count` elements of input i, and the results
// replace blocks[0].
template <typename T>
using BlockFunction = void (*)(T* const* blocks, std::size_t inputs, std::int64_t count,
                               const double* parameters);

struct Elementwise {
  BlockFunction<double> real = nullptr;
  BlockFunction<std::int64_t> whole = nullptr;       // null: reals are used
  BlockFunction<std::int64_t> unsigned64 = nullptr;  // null: as whole
  const double* parameters = nullptr;
};

// Runs it over all inputs of the call; the output has the type it was given.
Status run_elementwise(const Call& call, const Elementwise& function);

}  // namespace attune::runtime::host
