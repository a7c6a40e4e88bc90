// Sample calls of operators for the conformance tests: the lines of
// tests/conformance/operators.txt, which says how they are written, and the control flow that no
// line can say. Every line stands for one sample per type that it names; operands are random
// numbers by a seed made of the line.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/graph/graph.h"

namespace attune::test {

struct Sample {
  std::string text;  // "add(f32[3,37], f32[37])": one line for people
  std::string op;
  ops::Attributes attributes = {};
  std::vector<ops::ConstantPtr> operands = {};  // null: left out
  std::vector<bool> known = {};                 // at compile time
  ir::DType type = ir::kF32;  // what T stands for; without a T, the type of the first operand
  int line = 0;               // number of the operator's lines before this one
  std::vector<std::shared_ptr<const graph::Graph>> bodies = {};
  std::vector<ops::ConstantPtr> expected = {};  // of control flow, which the interpreter has not
};

// Every sample of an operator, those of its first line first; none for an operator that has no
// line. Ends the program for a line that cannot be read.
std::vector<Sample> samples_of(std::string_view op);

// One node on the operands, those that are not known at compile time as inputs.
Result<graph::Graph> graph_of(const Sample& sample);
// The values of the graph's inputs.
std::vector<ops::ConstantPtr> inputs_of(const Sample& sample);
// The call that the operator's rules see, all operands being known.
ops::OpCall call_of(const Sample& sample);
// What the operator means there: by the interpreter, or the runtime's function where that is the
// meaning.
Result<std::vector<ops::ConstantPtr>> meaning_of(const Sample& sample);

// Empty where the outputs are the same: types, shapes, and elements but for rounding errors of
// `tolerance`, a fraction of the largest magnitude, in floats. Else what differs first.
std::string difference_of(const std::vector<ops::ConstantPtr>& expected,
                          const std::vector<ops::ConstantPtr>& found, double tolerance);

}  // namespace attune::test
