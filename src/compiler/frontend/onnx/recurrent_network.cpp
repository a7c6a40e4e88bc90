#include "compiler/frontend/onnx/recurrent_network.h"

#include "compiler/frontend/onnx/shape_converters.h"
#include "compiler/frontend/onnx/step_body.h"

namespace attune::onnx {
namespace {

struct Direction {
  ValueId every = kNoValue;  // [steps, batch, hidden]
  CellState last;
};

Result<ValueId> of_direction(NodeContext& node, ValueId value, std::size_t number) {
  ATTUNE_ASSIGN(const ValueId part,
                slice_axis(node, value, 0, static_cast<std::int64_t>(number), 1));
  const Extents& shape = node.shape(part);
  return node.reshape(part, Extents(shape.begin() + 1, shape.end()));
}

Result<ValueId> weight_of(NodeContext& node, const Network& net, ValueId weights,
                          std::size_t number) {
  ATTUNE_ASSIGN(const ValueId weight, of_direction(node, weights, number));
  return net.weights_transposed ? weight : transpose(node, weight, {1, 0});
}

Result<ValueId> state_of(NodeContext& node, const Network& net, ValueId states,
                         std::size_t number) {
  const std::int64_t hidden = net.cells[number].hidden;
  if (states == kNoValue) {
    return node.add("expand", {node.scalar(node.dtype(net.x), 0)},
                    {{"shape", Extents{net.batch, hidden}}});
  }
  return of_direction(node, states, number);
}

// x · w + biases for all steps, [steps, batch, gates * hidden]; what the cell adds itself goes into
// `weights`.
Result<ValueId> input_gates(NodeContext& node, const Network& net, std::size_t number,
                            CellWeights& weights) {
  const Cell& cell = net.cells[number];
  const std::int64_t width = cell.gates() * cell.hidden;
  ATTUNE_ASSIGN(const ValueId w, weight_of(node, net, net.w, number));
  ATTUNE_ASSIGN(weights.recurrence, weight_of(node, net, net.r, number));
  const std::int64_t inputs = node.shape(net.x)[2];
  ATTUNE_ASSIGN(const ValueId rows, node.reshape(net.x, {net.steps * net.batch, inputs}));
  ATTUNE_ASSIGN(ValueId gates, node.add("matmul", {rows, w}));
  if (net.peepholes != kNoValue) {
    ATTUNE_ASSIGN(weights.peepholes, of_direction(node, net.peepholes, number));
  }
  if (net.b != kNoValue) {
    ATTUNE_ASSIGN(const ValueId both, of_direction(node, net.b, number));
    ATTUNE_ASSIGN(ValueId of_input, slice_axis(node, both, 0, 0, width));
    ATTUNE_ASSIGN(ValueId of_state, slice_axis(node, both, 0, width, width));
    if (cell.kind == CellKind::Gru && cell.linear_before_reset) {
      const std::int64_t n = cell.hidden;
      ATTUNE_ASSIGN(weights.recurrent_bias, slice_axis(node, of_state, 0, 2 * n, n));
      ATTUNE_ASSIGN(of_state, slice_axis(node, of_state, 0, 0, 2 * n));
      ATTUNE_ASSIGN(of_state,
                    node.add("pad", {of_state},
                             {{"pads", Extents{0, n}}, {"mode", std::string("constant")}}));
    }
    ATTUNE_ASSIGN(const ValueId bias, node.add("add", {of_input, of_state}));
    ATTUNE_ASSIGN(gates, node.add("add", {gates, bias}));
  }
  return node.reshape(gates, {net.steps, net.batch, width});
}

// Which sequences have not ended, [batch, 1]; nothing where all are equally long. `step` counts
// from the sequence's beginning, also in a reversed direction.
ValueId running(Chain& chain, ValueId step, ValueId lengths, std::int64_t batch) {
  if (lengths == kNoValue) return kNoValue;
  const ValueId wide = chain.make("cast", {lengths}, {{"to", std::string("i64")}});
  const ValueId column = chain.make("reshape", {wide}, {{"shape", Extents{batch, 1}}});
  return chain.make("less", {step, column});
}

Result<Direction> run_once(NodeContext& node, const Network& net, std::size_t number,
                           const CellWeights& weights, ValueId gates, const CellState& first) {
  const Cell& cell = net.cells[number];
  ATTUNE_ASSIGN(gates, node.reshape(gates, {net.batch, cell.gates() * cell.hidden}));
  Chain chain(node.builder());
  const ValueId runs = running(chain, node.scalar(ir::kI64, 0), net.lengths, net.batch);
  const CellStep result = next_step(chain, cell, weights, gates, first, runs);
  ATTUNE_RETURN_IF_ERROR(chain.status());
  ATTUNE_ASSIGN(const ValueId every, node.reshape(result.output, {1, net.batch, cell.hidden}));
  return Direction{every, result.state};
}

// The loop over all steps: what goes from one to the next, and what each of them takes of `gates`.
struct Steps {
  std::vector<ValueId> carried, scanned, captured;
  bool reversed;
};

Result<std::vector<ValueId>> add_loop(NodeContext& node, const Network& net, const Steps& steps,
                                      std::shared_ptr<const graph::Graph> body) {
  std::vector<ValueId> inputs{kNoValue, kNoValue};
  for (const auto* list : {&steps.carried, &steps.scanned, &steps.captured}) {
    inputs.insert(inputs.end(), list->begin(), list->end());
  }
  const std::int64_t reversed = steps.reversed ? 1 : 0;
  return node.builder().add_node("loop", inputs,
                                 {{"carried", static_cast<std::int64_t>(steps.carried.size())},
                                  {"scanned", static_cast<std::int64_t>(steps.scanned.size())},
                                  {"outputs_scanned", std::int64_t{1}},
                                  {"has_trip_count", std::int64_t{0}},
                                  {"has_condition", std::int64_t{0}},
                                  {"max_trips", net.steps},
                                  {"extent", std::int64_t{ops::kConstantExtent}},
                                  {"reverse_inputs", Extents(steps.scanned.size(), reversed)},
                                  {"reverse_outputs", Extents{reversed}}},
                                 {std::move(body)});
}

// A step that is one kernel: it takes its gates from all of them, and the state is one value.
Result<Direction> run_cells(NodeContext& node, const Network& net, std::size_t number,
                            const CellWeights& weights, ValueId gates, const CellState& first) {
  const Cell& cell = net.cells[number];
  const bool reversed = net.reversed[number];
  const bool is_lstm = cell.kind == CellKind::Lstm;
  std::vector<ValueId> states{first.h};
  if (is_lstm) states.push_back(first.c);
  if (net.lengths != kNoValue) states.push_back(first.h);  // the output, which no step reads
  ValueId carried = first.h;
  if (states.size() > 1) {
    ATTUNE_ASSIGN(carried, node.add("stack", states));
  }
  StepBody body(node, "step");
  const ValueId iteration = body.input("iteration", {ir::kI64, {}, {}});
  const ValueId state = body.input("state", node.type(carried));
  const CellWeights inside{body.capture(weights.recurrence), body.capture(weights.recurrent_bias),
                           body.capture(weights.peepholes)};
  const ValueId all = body.capture(gates), lengths = body.capture(net.lengths);
  Chain& chain = body.chain();
  const auto last = static_cast<double>(net.steps - 1);
  const ValueId step =
      reversed ? chain.make("sub", {chain.scalar(ir::kI64, last), iteration}) : iteration;
  const ValueId now = chain.make("gather", {all, step}, {{"axis", std::int64_t{0}}});
  CellState before{state, kNoValue};
  if (states.size() > 1) before = state_of_stack(chain, cell, state);
  const ValueId runs = running(chain, step, lengths, net.batch);
  const CellStep result = next_step(chain, cell, inside, now, before, runs);
  ATTUNE_RETURN_IF_ERROR(chain.status());
  const ValueId next = result.stack == kNoValue ? result.state.h : result.stack;
  const Steps steps{{carried}, {}, body.captures(), reversed};
  ATTUNE_ASSIGN(const std::vector<ValueId> results,
                add_loop(node, net, steps, body.finish({next, result.output})));
  Direction direction{results[1], {results[0], kNoValue}};
  if (states.size() > 1) {
    Chain outside(node.builder());
    direction.last = state_of_stack(outside, cell, results[0]);
    ATTUNE_RETURN_IF_ERROR(outside.status());
  }
  return direction;
}

Result<Direction> run_loop(NodeContext& node, const Network& net, std::size_t number,
                           const CellWeights& weights, ValueId gates, const CellState& first) {
  const Cell& cell = net.cells[number];
  const bool is_lstm = cell.kind == CellKind::Lstm;
  const TensorType state_type{node.dtype(net.x), {net.batch, cell.hidden}, {}};
  StepBody body(node, "step");
  ValueId step = body.input("iteration", {ir::kI64, {}, {}});
  CellState before{body.input("h", state_type), kNoValue};
  if (is_lstm) before.c = body.input("c", state_type);
  const ValueId slice =
      body.input("gates", {state_type.dtype, {net.batch, cell.gates() * cell.hidden}, {}});
  const CellWeights inside{body.capture(weights.recurrence), body.capture(weights.recurrent_bias),
                           body.capture(weights.peepholes)};
  const ValueId lengths = body.capture(net.lengths);
  Chain& chain = body.chain();
  if (lengths != kNoValue && net.reversed[number]) {
    const auto last = static_cast<double>(net.steps - 1);
    step = chain.make("sub", {chain.scalar(ir::kI64, last), step});
  }
  const ValueId runs = running(chain, step, lengths, net.batch);
  const CellStep result = next_step(chain, cell, inside, slice, before, runs);
  ATTUNE_RETURN_IF_ERROR(chain.status());
  std::vector<ValueId> outputs{result.state.h};
  if (is_lstm) outputs.push_back(result.state.c);
  outputs.push_back(result.output);
  Steps steps{{first.h}, {gates}, body.captures(), net.reversed[number]};
  if (is_lstm) steps.carried.push_back(first.c);
  ATTUNE_ASSIGN(const std::vector<ValueId> results,
                add_loop(node, net, steps, body.finish(std::move(outputs))));
  return Direction{results.back(), {results[0], is_lstm ? results[1] : kNoValue}};
}

Result<Direction> run_direction(NodeContext& node, const Network& net, std::size_t number) {
  CellWeights weights;
  ATTUNE_ASSIGN(const ValueId gates, input_gates(node, net, number, weights));
  CellState first;
  ATTUNE_ASSIGN(first.h, state_of(node, net, net.h, number));
  if (net.cells[number].kind == CellKind::Lstm) {
    ATTUNE_ASSIGN(first.c, state_of(node, net, net.c, number));
  }
  if (net.steps == 1) return run_once(node, net, number, weights, gates, first);
  return is_one_product(Chain(node.builder()), net.cells[number], weights)
             ? run_cells(node, net, number, weights, gates, first)
             : run_loop(node, net, number, weights, gates, first);
}

// Values of all directions, stacked along a new axis.
Result<ValueId> stacked(NodeContext& node, const std::vector<ValueId>& values, std::int64_t axis) {
  std::vector<ValueId> parts;
  for (const ValueId value : values) {
    Extents shape = node.shape(value);
    shape.insert(shape.begin() + axis, 1);
    ATTUNE_ASSIGN(const ValueId part, node.reshape(value, shape));
    parts.push_back(part);
  }
  if (parts.size() == 1) return parts.front();
  return node.add("concat", parts, {{"axis", axis}});
}

}  // namespace

Converted run_network(NodeContext& node, const Network& net) {
  std::vector<ValueId> every, last_h, last_c;
  for (std::size_t i = 0; i < net.cells.size(); ++i) {
    ATTUNE_ASSIGN(const Direction direction, run_direction(node, net, i));
    every.push_back(direction.every);
    last_h.push_back(direction.last.h);
    last_c.push_back(direction.last.c);
  }
  std::vector<ValueId> results(3, kNoValue);
  if (node.wants_output(0)) {
    ATTUNE_ASSIGN(results[0], stacked(node, every, 1));  // [steps, directions, batch, hidden]
    if (net.batch_first) {
      ATTUNE_ASSIGN(results[0], transpose(node, results[0], {2, 0, 1, 3}));
    }
  }
  const std::int64_t axis = net.batch_first ? 1 : 0;
  if (node.wants_output(1)) {
    ATTUNE_ASSIGN(results[1], stacked(node, last_h, axis));
  }
  if (node.wants_output(2) && last_c.front() != kNoValue) {
    ATTUNE_ASSIGN(results[2], stacked(node, last_c, axis));
  }
  return results;
}

}  // namespace attune::onnx
