#include "compiler/frontend/onnx/recurrent_cell.h"

#include <fmt/format.h>

#include <algorithm>

namespace attune::onnx {
namespace {

ValueId activate(Chain& chain, const Cell& cell, std::size_t number, ValueId value) {
  const Activation& f = cell.activations[number];
  const auto type = [&] { return chain.builder().type(value).dtype; };
  if (chain.status().ok() && cell.clip) {
    value = chain.make(
        "clip", {value, chain.scalar(type(), -*cell.clip), chain.scalar(type(), *cell.clip)});
  }
  if (!chain.status().ok()) return graph::kNoValue;
  if (f.name == "leakyrelu") return chain.make("leaky_relu", {value}, {{"alpha", f.alpha}});
  if (f.name == "thresholdedrelu") {
    return chain.make("thresholded_relu", {value}, {{"alpha", f.alpha}});
  }
  if (f.name == "elu") return chain.make("elu", {value}, {{"alpha", f.alpha}});
  if (f.name == "hardsigmoid") {
    return chain.make("hard_sigmoid", {value}, {{"alpha", f.alpha}, {"beta", f.beta}});
  }
  if (f.name == "affine") {
    const ValueId product = chain.make("mul", {value, chain.scalar(type(), f.alpha)});
    return chain.make("add", {product, chain.scalar(type(), f.beta)});
  }
  if (f.name == "scaledtanh") {
    const ValueId inner = chain.make("mul", {value, chain.scalar(type(), f.beta)});
    return chain.make("mul", {chain.make("tanh", {inner}), chain.scalar(type(), f.alpha)});
  }
  return chain.make(f.name, {value});  // relu, tanh, sigmoid, softsign, softplus
}

CellState next_rnn(Chain& chain, const Cell& cell, const CellWeights& weights, ValueId gates,
                   const CellState& state) {
  const ValueId recurrent = chain.make("matmul", {state.h, weights.recurrence});
  return {activate(chain, cell, 0, chain.make("add", {gates, recurrent})), graph::kNoValue};
}

bool is_known(const Chain& chain, ValueId value) {
  return chain.builder().constant_of(value) != nullptr;
}

CellState next_gru(Chain& chain, const Cell& cell, const CellWeights& weights, ValueId gates,
                   const CellState& state) {
  const std::int64_t n = cell.hidden;
  // Before the reset all three products can be made at once.
  const ValueId matrix =
      cell.linear_before_reset ? weights.recurrence : chain.part(weights.recurrence, 0, 2 * n);
  const ValueId recurrent = chain.make("matmul", {state.h, matrix});
  const auto gate = [&](std::int64_t number) {
    return activate(chain, cell, 0,
                    chain.make("add", {chain.part(gates, number * n, n),
                                       chain.part(recurrent, number * n, n)}));
  };
  ValueId update = gate(0);
  const ValueId reset = gate(1);
  ValueId candidate = graph::kNoValue;
  if (cell.linear_before_reset) {
    ValueId part = chain.part(recurrent, 2 * n, n);
    if (weights.recurrent_bias != graph::kNoValue) {
      part = chain.make("add", {part, weights.recurrent_bias});
    }
    candidate = chain.make("mul", {reset, part});
  } else {
    ValueId kept = chain.make("mul", {reset, state.h});
    if (is_known(chain, weights.recurrence)) {
      const ValueId both = chain.make("stack", {update, kept});
      update = chain.layer(both, 0), kept = chain.layer(both, 1);
    }
    candidate = chain.make("matmul", {kept, chain.part(weights.recurrence, 2 * n, n)});
  }
  candidate = activate(chain, cell, 1, chain.make("add", {chain.part(gates, 2 * n, n), candidate}));
  // (1 - z) * candidate + z * h
  const ValueId difference = chain.make("sub", {state.h, candidate});
  return {chain.make("add", {candidate, chain.make("mul", {update, difference})}), graph::kNoValue};
}

CellState next_lstm(Chain& chain, const Cell& cell, const CellWeights& weights, ValueId gates,
                    const CellState& state) {
  const std::int64_t n = cell.hidden;
  const ValueId recurrent = chain.make("matmul", {state.h, weights.recurrence});
  const ValueId all = chain.make("add", {gates, recurrent});  // input, output, forget, candidate
  const auto gate = [&](std::int64_t number, ValueId seen) {
    ValueId value = chain.part(all, number * n, n);
    if (weights.peepholes != graph::kNoValue) {
      const ValueId peephole = chain.part(weights.peepholes, number * n, n);
      value = chain.make("add", {value, chain.make("mul", {peephole, seen})});
    }
    return activate(chain, cell, 0, value);
  };
  const ValueId input = gate(0, state.c);
  ValueId forget = graph::kNoValue;
  if (!chain.status().ok()) return {};
  if (cell.input_forget) {
    forget = chain.make("sub", {chain.scalar(chain.builder().type(input).dtype, 1), input});
  } else {
    forget = gate(2, state.c);
  }
  const ValueId candidate = activate(chain, cell, 1, chain.part(all, 3 * n, n));
  const ValueId c = chain.make(
      "add", {chain.make("mul", {forget, state.c}), chain.make("mul", {input, candidate})});
  const ValueId output = gate(1, c);
  // The state is not clipped: that is for what goes into gates.
  Cell plain = cell;
  plain.clip.reset();
  return {chain.make("mul", {output, activate(chain, plain, 2, c)}), c};
}

CellState next_state(Chain& chain, const Cell& cell, const CellWeights& weights, ValueId gates,
                     const CellState& state) {
  switch (cell.kind) {
    case CellKind::Rnn:
      return next_rnn(chain, cell, weights, gates, state);
    case CellKind::Gru:
      return next_gru(chain, cell, weights, gates, state);
    case CellKind::Lstm:
      return next_lstm(chain, cell, weights, gates, state);
  }
  return {};
}

}  // namespace

ValueId Chain::make(std::string op, std::vector<ValueId> inputs, ops::Attributes attributes) {
  if (error_) return graph::kNoValue;
  auto value = builder_.add(std::move(op), std::move(inputs), std::move(attributes));
  if (value.ok()) return *value;
  error_ = value.error();
  return graph::kNoValue;
}

ValueId Chain::part(ValueId value, std::int64_t start, std::int64_t size) {
  if (error_) return graph::kNoValue;
  std::vector<std::int64_t> shape = builder_.shape(value);
  if (start == 0 && shape.back() == size) return value;
  std::vector<std::int64_t> starts(shape.size(), 0), steps(shape.size(), 1);
  starts.back() = start;
  shape.back() = size;
  return make("slice", {value}, {{"starts", starts}, {"steps", steps}, {"shape", shape}});
}

ValueId Chain::layer(ValueId stack, std::int64_t number) {
  if (error_) return graph::kNoValue;
  std::vector<std::int64_t> shape = builder_.shape(stack);
  std::vector<std::int64_t> starts(shape.size(), 0), steps(shape.size(), 1);
  starts[0] = number;
  shape[0] = 1;
  const ValueId one =
      make("slice", {stack}, {{"starts", starts}, {"steps", steps}, {"shape", shape}});
  shape.erase(shape.begin());
  return make("reshape", {one}, {{"shape", shape}});
}

ValueId Chain::scalar(ir::DType type, double value) {
  return builder_.constant(ops::scalar_constant(type, value));
}

bool Activation::uses_alpha() const {
  return uses_beta() || name == "leakyrelu" || name == "thresholdedrelu" || name == "elu";
}

bool Activation::uses_beta() const {
  return name == "affine" || name == "scaledtanh" || name == "hardsigmoid";
}

Result<Activation> activation_of(std::string name) {
  std::transform(name.begin(), name.end(), name.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  const Activation known[] = {{"relu", 0, 0},         {"tanh", 0, 0},
                              {"sigmoid", 0, 0},      {"softsign", 0, 0},
                              {"softplus", 0, 0},     {"affine", 1, 0},
                              {"leakyrelu", 0.01, 0}, {"thresholdedrelu", 1, 0},
                              {"scaledtanh", 1, 1},   {"hardsigmoid", 0.2, 0.5},
                              {"elu", 1, 0}};
  for (const Activation& activation : known) {
    if (name == activation.name) return activation;
  }
  return unsupported(fmt::format("activation '{}' is not known", name));
}

CellStep next_step(Chain& chain, const Cell& cell, const CellWeights& weights, ValueId gates,
                   const CellState& state, ValueId runs) {
  const CellState after = next_state(chain, cell, weights, gates, state);
  if (!chain.status().ok()) return {};
  std::vector<ValueId> values{after.h};  // then the cell's own state, then the output
  if (after.c != graph::kNoValue) values.push_back(after.c);
  if (runs != graph::kNoValue) {
    const ValueId zero = chain.scalar(chain.builder().type(after.h).dtype, 0);
    values[0] = chain.make("where", {runs, after.h, state.h});
    if (values.size() > 1) values[1] = chain.make("where", {runs, after.c, state.c});
    values.push_back(chain.make("where", {runs, after.h, zero}));
  }
  CellStep step;
  if (values.size() > 1 && cell.gates() > 1 && is_known(chain, weights.recurrence)) {
    step.stack = chain.make("stack", values);
    for (std::size_t i = 0; i < values.size(); ++i) {
      values[i] = chain.layer(step.stack, static_cast<std::int64_t>(i));
    }
  }
  step.state.h = values[0];
  if (after.c != graph::kNoValue) step.state.c = values[1];
  step.output = runs == graph::kNoValue ? values.front() : values.back();
  return step;
}

CellState state_of_stack(Chain& chain, const Cell& cell, ValueId stack) {
  CellState state{chain.layer(stack, 0), graph::kNoValue};
  if (cell.kind == CellKind::Lstm) state.c = chain.layer(stack, 1);
  return state;
}

bool is_one_product(const Chain& chain, const Cell& cell, const CellWeights& weights) {
  const bool one =
      cell.kind == CellKind::Lstm || (cell.kind == CellKind::Gru && cell.linear_before_reset);
  return one && is_known(chain, weights.recurrence);
}

}  // namespace attune::onnx
