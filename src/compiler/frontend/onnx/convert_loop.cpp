// Loop. Values that the body hands on unchanged are constants or captures of it, not carried; where
// it follows from constants how often the loop runs, it has no condition.
#include <fmt/format.h>

#include <algorithm>

#include "compiler/frontend/onnx/shape_converters.h"
#include "compiler/frontend/onnx/trip_count.h"

namespace attune::onnx {
namespace {

using GraphPtr = std::shared_ptr<const graph::Graph>;

// Unrolled loops have no more iterations than this.
constexpr std::int64_t kMostUnrolled = 256;
// Counting stops here.
constexpr std::int64_t kMostCounted = 20'000;
// Trip counts from here on mean that something else ends the loop.
constexpr std::int64_t kEndless = std::int64_t{1} << 40;
// Bodies are imported again when a value has another shape behind them.
constexpr int kMostRounds = 4;

struct LoopCall {
  std::optional<std::int64_t> trips;  // known
  ValueId trip_count = kNoValue;      // not known; absent if nothing but the condition ends it
  ValueId condition = kNoValue;       // not known; absent: true
  std::vector<ValueId> carried;       // all values of the node
  std::size_t stacked = 0;

  bool runs() const { return trips && *trips > 0 && condition == kNoValue; }
};

// Every iteration in its place; for bodies whose shapes change, or that need to know which
// iteration they are.
Converted unroll(NodeContext& node, const LoopCall& loop) {
  std::vector<ValueId> state = loop.carried;
  std::vector<std::vector<ValueId>> slices(loop.stacked);
  for (std::int64_t i = 0; i < *loop.trips; ++i) {
    std::vector<ValueId> handed{node.scalar(ir::kI64, static_cast<double>(i)),
                                node.scalar(ir::kBool, 1)};
    handed.insert(handed.end(), state.begin(), state.end());
    ATTUNE_ASSIGN(const std::vector<ValueId> results, node.inline_body("body", handed));
    const auto goes_on = known_number(node, results[0]);
    if (!goes_on) {
      return unsupported("whether the loop goes on depends on data, and its shapes change");
    }
    state.assign(results.begin() + 1,
                 results.begin() + 1 + static_cast<std::ptrdiff_t>(state.size()));
    for (std::size_t s = 0; s < slices.size(); ++s) {
      const ValueId slice = results[1 + state.size() + s];
      Extents shape = node.shape(slice);
      shape.insert(shape.begin(), 1);
      ATTUNE_ASSIGN(const ValueId row, node.reshape(slice, shape));
      slices[s].push_back(row);
    }
    if (*goes_on == 0) break;
  }
  for (const std::vector<ValueId>& rows : slices) {
    if (rows.empty()) return unsupported("the loop never runs, so its outputs have no shape");
    if (rows.size() == 1) {
      state.push_back(rows.front());
      continue;
    }
    ATTUNE_ASSIGN(const ValueId all, node.add("concat", rows, {{"axis", std::int64_t{0}}}));
    state.push_back(all);
  }
  return state;
}

// What the loop really carries, and its body for that.
struct LoopBody {
  std::vector<std::size_t> carried;     // numbers of values that change
  std::vector<std::size_t> invariants;  // that do not, and are not constant: captures
  std::vector<TensorType> types;        // of all values, within the loop
  GraphPtr graph;                       // [iteration, carried…, captures…, invariants…]
  std::vector<ValueId> captures;
};

bool reads_input(const graph::Graph& graph, ValueId input) {
  const auto reads = [&](const std::vector<ValueId>& ids) {
    return std::find(ids.begin(), ids.end(), input) != ids.end();
  };
  return reads(graph.outputs) || std::any_of(graph.nodes.begin(), graph.nodes.end(),
                                             [&](const auto& n) { return reads(n.inputs); });
}

// The body once, from the types that the loop is thought to carry.
Result<LoopBody> import_body(NodeContext& node, const LoopCall& loop,
                             const std::vector<TensorType>& types) {
  const std::vector<int> passed = node.passed_through("body");
  LoopBody result{{}, {}, types, nullptr, {}};
  std::vector<TensorType> handed{{ir::kI64, {}, {}}, {ir::kBool, {}, {}}};
  std::vector<ConstantPtr> known{nullptr, ops::scalar_constant(ir::kBool, 1)};
  for (std::size_t i = 0; i < loop.carried.size(); ++i) {
    const bool unchanged = passed[1 + i] == static_cast<int>(2 + i);
    handed.push_back(types[i]);
    known.push_back(unchanged ? node.builder().constant_of(loop.carried[i]) : nullptr);
    if (!unchanged) result.carried.push_back(i);
    if (unchanged && known.back() == nullptr) result.invariants.push_back(i);
  }
  ATTUNE_ASSIGN(const Body body, node.body("body", handed, known));
  // Inputs: iteration, the values that are not constants in their order, captures.
  graph::Graph graph = *body.graph;
  std::vector<ValueId> of_value(loop.carried.size(), kNoValue);
  std::size_t next = 1;
  for (std::size_t i = 0; i < loop.carried.size(); ++i) {
    if (known[2 + i] == nullptr) of_value[i] = graph.inputs[next++];
  }
  std::vector<ValueId> inputs{graph.inputs[0]}, outputs{graph.outputs[0]};
  for (const std::size_t i : result.carried) {
    inputs.push_back(of_value[i]);
    outputs.push_back(graph.outputs[1 + i]);
  }
  inputs.insert(inputs.end(), graph.inputs.begin() + static_cast<std::ptrdiff_t>(next),
                graph.inputs.end());
  for (const std::size_t i : result.invariants) inputs.push_back(of_value[i]);
  outputs.insert(outputs.end(),
                 graph.outputs.begin() + static_cast<std::ptrdiff_t>(1 + loop.carried.size()),
                 graph.outputs.end());
  graph.inputs = std::move(inputs);
  graph.outputs = std::move(outputs);
  result.captures = body.captures;
  result.graph = std::make_shared<const graph::Graph>(std::move(graph));
  return result;
}

// A value may have another shape behind the body than before the loop if nobody reads it before
// it is written, or if it has one element all the same.
Result<LoopBody> settled_body(NodeContext& node, const LoopCall& loop) {
  std::vector<TensorType> types;
  for (const ValueId value : loop.carried) types.push_back(node.type(value));
  for (int round = 0;; ++round) {
    ATTUNE_ASSIGN(const LoopBody body, import_body(node, loop, types));
    bool changed = false;
    for (std::size_t i = 0; i < body.carried.size(); ++i) {
      TensorType& before = types[body.carried[i]];
      const TensorType& after = body.graph->value(body.graph->outputs[1 + i]).type;
      if (before == after) continue;
      const bool is_unread = !reads_input(*body.graph, body.graph->inputs[1 + i]);
      const bool is_number =
          before.elements() == 1 && after.elements() == 1 && before.dtype == after.dtype;
      if (!loop.runs() || !(is_unread || is_number) || !after.is_static()) continue;
      before = after;
      changed = true;
    }
    if (!changed || round == kMostRounds) return body;
  }
}

GraphPtr without_condition(const GraphPtr& body) {
  graph::Graph graph = *body;
  graph.outputs.erase(graph.outputs.begin());
  return std::make_shared<const graph::Graph>(std::move(graph));
}

// The initial value in the type that the loop carries it in.
Result<ValueId> initial_of(NodeContext& node, ValueId value, const TensorType& type) {
  if (node.type(value) == type) return value;
  if (node.type(value).elements() == type.elements() && node.dtype(value) == type.dtype) {
    return node.reshape(value, type.shape);
  }
  return node.add("expand", {node.scalar(type.dtype, 0)}, {{"shape", type.shape}});
}

// How often the loop runs, if that follows from constants.
std::optional<std::int64_t> counted_trips(NodeContext& node, const LoopCall& loop,
                                          const LoopBody& body) {
  const std::int64_t most = loop.trips ? *loop.trips : kEndless;
  if (loop.condition != kNoValue || loop.trip_count != kNoValue) return std::nullopt;
  const ConstantPtr goes_on = body.graph->value(body.graph->outputs[0]).constant;
  if (goes_on != nullptr) {
    if (goes_on->integer(0) == 0) return std::min<std::int64_t>(most, 1);
    return most < kEndless ? std::optional(most) : std::nullopt;
  }
  std::vector<ConstantPtr> initial;
  for (const std::size_t i : body.carried) {
    ConstantPtr constant = node.builder().constant_of(loop.carried[i]);
    const bool fits = constant != nullptr && constant->type == body.types[i];
    initial.push_back(fits ? constant : nullptr);
  }
  const auto counted = trip_count(*body.graph, initial, std::min(most, kMostCounted));
  if (counted) return counted;
  return std::nullopt;
}

Converted add_loop(NodeContext& node, const LoopCall& loop) {
  ATTUNE_ASSIGN(LoopBody body, settled_body(node, loop));
  const auto counted = counted_trips(node, loop, body);
  const ConstantPtr goes_on = body.graph->value(body.graph->outputs[0]).constant;
  const bool is_endless = goes_on != nullptr && goes_on->integer(0) != 0;
  const bool has_condition = !counted && (!is_endless || loop.condition != kNoValue);
  if (!has_condition) body.graph = without_condition(body.graph);
  std::vector<ValueId> inputs{loop.trip_count, loop.condition};
  const auto trips = counted ? counted : loop.trips;
  if (trips && *trips < kEndless) inputs[0] = node.scalar(ir::kI64, static_cast<double>(*trips));
  const bool has_trips = inputs[0] != kNoValue;
  if (has_condition && inputs[1] == kNoValue) inputs[1] = node.scalar(ir::kBool, 1);
  for (const std::size_t i : body.carried) {
    ATTUNE_ASSIGN(const ValueId initial, initial_of(node, loop.carried[i], body.types[i]));
    inputs.push_back(initial);
  }
  inputs.insert(inputs.end(), body.captures.begin(), body.captures.end());
  for (const std::size_t i : body.invariants) inputs.push_back(loop.carried[i]);
  const bool is_fixed = has_trips && trips && !has_condition;
  std::int64_t most = has_trips && trips ? *trips : -1;
  for (std::size_t i = 0; has_trips && most < 0 && i < loop.stacked; ++i) {  // as it is declared
    const auto shape = node.declared_shape(loop.carried.size() + i);
    if (shape && !shape->empty()) most = shape->front();
  }
  const std::int64_t extent = is_fixed ? ops::kConstantExtent : node.builder().new_extent();
  ATTUNE_ASSIGN(
      const std::vector<ValueId> outputs,
      node.builder().add_node("loop", inputs,
                              {{"carried", static_cast<std::int64_t>(body.carried.size())},
                               {"scanned", std::int64_t{0}},
                               {"outputs_scanned", static_cast<std::int64_t>(loop.stacked)},
                               {"has_trip_count", std::int64_t{has_trips}},
                               {"has_condition", std::int64_t{has_condition}},
                               {"max_trips", most},
                               {"extent", extent},
                               {"reverse_inputs", Extents{}},
                               {"reverse_outputs", Extents(loop.stacked, 0)}},
                              {body.graph}));
  std::vector<ValueId> results = loop.carried;
  for (std::size_t i = 0; i < body.carried.size(); ++i) results[body.carried[i]] = outputs[i];
  results.insert(results.end(), outputs.begin() + static_cast<std::ptrdiff_t>(body.carried.size()),
                 outputs.end());
  return results;
}

Result<LoopCall> loop_of(NodeContext& node) {
  LoopCall loop;
  if (node.has(0)) {
    loop.trips = known_number(node, node.input(0));
    if (!loop.trips) {
      ATTUNE_ASSIGN(loop.trip_count, node.reshape(node.input(0), {}));
    }
  }
  if (node.has(1)) {
    const auto condition = known_number(node, node.input(1));
    if (condition && *condition == 0) loop.trips = 0;
    if (!condition) {
      ATTUNE_ASSIGN(loop.condition, node.reshape(node.input(1), {}));
    }
  }
  for (std::size_t i = 2; i < node.input_count(); ++i) loop.carried.push_back(node.input(i));
  const std::size_t results = node.body_output_count("body");
  if (results < 1 + loop.carried.size()) {
    return invalid(
        fmt::format("its body gives {} values, {} are needed", results, 1 + loop.carried.size()));
  }
  loop.stacked = results - 1 - loop.carried.size();
  return loop;
}

}  // namespace

Converted convert_loop(NodeContext& node) {
  ATTUNE_ASSIGN(const LoopCall loop, loop_of(node));
  if (loop.trips && *loop.trips <= 0 && loop.stacked == 0) return loop.carried;
  const bool can_unroll = loop.runs() && *loop.trips <= kMostUnrolled;
  if (can_unroll && *loop.trips == 1) return unroll(node, loop);
  Converted whole = add_loop(node, loop);
  if (whole.ok() || whole.error().code != ErrorCode::Unsupported) return whole;
  if (!can_unroll) {
    // It could be, were it known how often it runs.
    for (const auto& [input, role] : {std::pair(0, "M"), std::pair(1, "cond")}) {
      if (!node.has(static_cast<std::size_t>(input))) continue;
      const auto known = node.constant_input(static_cast<std::size_t>(input), role);
      if (!known.ok()) return Error{whole.error().code, whole.error().message, known.error().hint};
    }
    return whole;
  }
  Converted unrolled = unroll(node, loop);
  return unrolled.ok() ? unrolled : whole;
}

}  // namespace attune::onnx
