// Tensor expressions: an operator is a Program, a list of stages in dependency order. A stage
// computes one tensor (a pair for argmax and argmin) element by element:
//   output[axes…] = values                                    without reduction
//   output[axes…] = reduce over reduce_axes of values         with one
// The axes appear in `values` as index variables named like the axis; reads of other tensors are
// Loads of their buffers. Stage names are roles ("anchor", "output", "epilogue.0"), so that a
// schedule made for one program fits another with the same roles. The unscheduled program has a
// meaning by itself: the interpreter runs it and is the reference for everything.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "compiler/ir/nodes/expr.h"

namespace attune::ir {

struct Axis {
  std::string name;  // unique within its stage, letters, digits and '_'
  std::int64_t extent;
  friend bool operator==(const Axis&, const Axis&) = default;
};

// ArgMax and ArgMin reduce pairs (value, index): values[0] is compared, values[1] is carried along;
// the first of equals wins.
enum class Reduction : std::uint8_t { None, Sum, Prod, Max, Min, ArgMax, ArgMin };

struct Stage {
  std::string name;
  std::vector<Axis> axes;         // one per output dimension
  std::vector<Axis> reduce_axes;  // empty without reduction
  Reduction reduction = Reduction::None;
  std::vector<Expr> values;     // one, or two for ArgMax / ArgMin
  std::vector<Buffer> outputs;  // one per value; the first is named like the stage
};

struct Input {
  Buffer buffer;
  bool constant = false;  // weights: known at compile time, may be laid out anew ahead of time
};

struct Program {
  std::string name;
  std::vector<Input> inputs;
  std::vector<Stage> stages;    // producers before consumers
  std::vector<Buffer> outputs;  // of stages; parameters of the kernel after the inputs

  const Stage* find_stage(std::string_view name) const;
  // The stage that computes `buffer`, or null for an input.
  const Stage* producer(const Buffer& buffer) const;
};

// Builders. compute() makes a stage without reduction, reduce() one with it; the stage is appended
// to the program and its (first) buffer returned.
Buffer add_input(Program& program, std::string name, DType type, std::vector<std::int64_t> shape,
                 bool constant = false);
Buffer add_compute(Program& program, std::string name, std::vector<Axis> axes, Expr value);
Buffer add_reduce(Program& program, std::string name, std::vector<Axis> axes,
                  std::vector<Axis> reduce_axes, Reduction reduction, Expr value);
// The pair form; returns {value buffer, index buffer}.
std::vector<Buffer> add_arg_reduce(Program& program, std::string name, std::vector<Axis> axes,
                                   std::vector<Axis> reduce_axes, Reduction reduction, Expr value,
                                   Expr index);
Expr axis_var(const Axis& axis);
// The neutral element of a reduction, e.g. 0 for Sum and -inf (or the least integer) for Max; for
// the pair forms the one of the compared value.
Expr identity_of(Reduction reduction, DType type);
// combine(accumulator, value) for the single-valued reductions.
Expr combine(Reduction reduction, Expr accumulator, Expr value);

// Names are unique, producers come first, loads have the right rank, types fit.
Status verify(const Program& program);

}  // namespace attune::ir
