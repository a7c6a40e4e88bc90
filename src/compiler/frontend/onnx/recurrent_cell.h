// The cells of recurrent networks: from the input's share of the gates and the state to the next
// state. They build into any graph: the body of a loop, or, for a single step, the graph around.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "compiler/graph/builder.h"

namespace attune::onnx {

using graph::ValueId;

// Adds operators one after the other; after the first failure nothing more is added.
class Chain {
 public:
  explicit Chain(graph::Builder& builder) : builder_(builder) {}

  ValueId make(std::string op, std::vector<ValueId> inputs, ops::Attributes attributes = {});
  // Elements start … start + size - 1 of the last dimension.
  ValueId part(ValueId value, std::int64_t start, std::int64_t size);
  // What a stack has at a place.
  ValueId layer(ValueId stack, std::int64_t number);
  ValueId scalar(ir::DType type, double value);
  graph::Builder& builder() const { return builder_; }
  Status status() const { return error_ ? Status(*error_) : Status(); }

 private:
  graph::Builder& builder_;
  std::optional<Error> error_;
};

struct Activation {
  std::string name;  // of ONNX, lower-case
  double alpha, beta;

  bool uses_alpha() const;
  bool uses_beta() const;
};
// With the defaults of ONNX for alpha and beta; fails for unknown names.
Result<Activation> activation_of(std::string name);

enum class CellKind : std::uint8_t { Rnn, Gru, Lstm };

struct Cell {
  CellKind kind = CellKind::Rnn;
  std::int64_t hidden = 1;
  std::vector<Activation> activations;  // 1, 2 (gates, candidate) or 3 (…, output)
  std::optional<double> clip;
  bool input_forget = false;
  bool linear_before_reset = false;

  std::int64_t gates() const { return kind == CellKind::Rnn ? 1 : kind == CellKind::Gru ? 3 : 4; }
};

// What a cell multiplies states with, as values of the graph that is built.
struct CellWeights {
  ValueId recurrence = graph::kNoValue;      // [hidden, gates * hidden]
  ValueId recurrent_bias = graph::kNoValue;  // GRU: [hidden], of the candidate's recurrent part
  ValueId peepholes = graph::kNoValue;       // LSTM: [3 * hidden]
};

struct CellState {
  ValueId h = graph::kNoValue, c = graph::kNoValue;  // [batch, hidden]
};

struct CellStep {
  CellState state;
  ValueId output = graph::kNoValue;
  // All of them, [values, batch, hidden], where one kernel computes a step; the state comes first.
  ValueId stack = graph::kNoValue;
};
// The states of a stack, which may hold more.
CellState state_of_stack(Chain& chain, const Cell& cell, ValueId stack);

// `gates`: the input times its weights plus all other biases, [batch, gates * hidden]. `runs`, bool
// [batch, 1]: where a sequence has ended its state stays, and what comes out is 0; all run where it
// is left out.
CellStep next_step(Chain& chain, const Cell& cell, const CellWeights& weights, ValueId gates,
                   const CellState& state, ValueId runs);
// Whether a step is one product with weights known ahead and arithmetic on its columns.
bool is_one_product(const Chain& chain, const Cell& cell, const CellWeights& weights);

}  // namespace attune::onnx
