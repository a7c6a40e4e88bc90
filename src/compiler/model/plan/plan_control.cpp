// If and loop instructions: their bodies are written into blocks of their own.
#include <algorithm>

#include "compiler/graph/frame.h"
#include "compiler/model/plan/plan_writer.h"

namespace attune::model {

using graph::Graph;
using graph::kNoValue;
using graph::ValueId;

namespace {

// The copy of one slice per iteration, out of (reading) or into a tensor of `count` of them.
runtime::Copy steps_of(std::int64_t bytes, std::int64_t count, bool reverse, bool reading) {
  runtime::Copy copy;
  const std::int64_t offset = reverse ? (count - 1) * bytes : 0;
  const std::int64_t step = reverse ? -bytes : bytes;
  (reading ? copy.from_offset : copy.to_offset) = offset;
  (reading ? copy.from_step : copy.to_step) = step;
  return copy;
}

// Whether an iteration may leave a value in memory that the next one finds it in: it has memory of
// its own, and no kernel reads a part of it, whose place would be another then.
bool can_be_handed(const GraphTasks& body, ValueId id) {
  const Graph& graph = *body.graph;
  const auto& inputs = graph.inputs;
  if (graph.value(id).constant != nullptr || graph::physical_bytes(graph.value(id)) == 0 ||
      std::count(inputs.begin(), inputs.end(), id) > 0 ||
      std::count(graph.outputs.begin(), graph.outputs.end(), id) > 1) {
    return false;
  }
  const auto is_part = [&](ValueId part) {
    const graph::Piece& piece = body.pieces.of_value[static_cast<std::size_t>(part)];
    return piece.whole == id &&
           graph::physical_bytes(graph.value(part)) != graph::physical_bytes(graph.value(id));
  };
  const bool has_readers =
      std::any_of(graph.nodes.begin(), graph.nodes.end(), [&](const graph::Node& node) {
        return graph::operator_of(node).kind != ops::OpKind::View &&
               std::any_of(node.inputs.begin(), node.inputs.end(),
                           [&](ValueId input) { return input != kNoValue && is_part(input); });
      });
  return body.pieces.of_value[static_cast<std::size_t>(id)].whole == id && !has_readers;
}

}  // namespace

Scope PlanWriter::body_scope(const GraphTasks& tasks, const std::vector<BufferId>& inputs) {
  const Graph& body = *tasks.graph;
  Scope scope(body, tasks.pieces, memory_, weights_);
  CHECK(inputs.size() == body.inputs.size(), "a body has other inputs than it is given");
  for (std::size_t i = 0; i < inputs.size(); ++i) scope.bind(body.inputs[i], inputs[i]);
  return scope;
}

void PlanWriter::touch_all(const std::vector<BufferId>& a, const std::vector<BufferId>& b,
                           const std::vector<BufferId>& c) {
  for (const auto* list : {&a, &b, &c}) {
    for (const BufferId buffer : *list) {
      if (buffer != runtime::kNone) memory_.touch(buffer);
    }
  }
}

Status PlanWriter::add_if(const GraphTasks& tasks, int index, Scope& scope, Block& block) {
  const Graph& graph = *tasks.graph;
  const Node& node = graph.nodes[static_cast<std::size_t>(index)];
  runtime::If instruction;
  instruction.condition = scope.buffer(node.inputs[0]);
  memory_.touch(instruction.condition);
  std::vector<BufferId> captured, results;
  for (std::size_t i = 1; i < node.inputs.size(); ++i) {
    captured.push_back(scope.buffer(node.inputs[i]));
  }
  for (const ValueId id : node.outputs) results.push_back(scope.buffer(id));
  for (std::size_t b = 0; b < 2; ++b) {
    const GraphTasks& body = *tasks.bodies.at({index, b});
    Scope inner = body_scope(body, captured);
    Block& branch = b == 0 ? instruction.then_block : instruction.else_block;
    ATTUNE_RETURN_IF_ERROR(add_groups(body, inner, branch));
    for (std::size_t i = 0; i < results.size(); ++i) {
      add_copy_of(branch, *body.graph, body.graph->outputs[i], inner, results[i]);
    }
  }
  touch_all({instruction.condition}, captured, results);
  add(block, {std::move(instruction)});
  return {};
}

PlanWriter::LoopParts PlanWriter::parts_of(const Node& node, const ops::OpCall& call) {
  LoopParts parts{};
  parts.carried = static_cast<std::size_t>(call.integer("carried"));
  parts.scanned = static_cast<std::size_t>(call.integer("scanned"));
  parts.scan_outputs = node.outputs.size() - parts.carried;
  parts.has_trip_count = call.integer("has_trip_count") != 0;
  parts.has_condition = call.integer("has_condition") != 0;
  parts.max_trips = call.integer("max_trips");
  parts.first_carried = 2;
  parts.first_scan = 2 + parts.carried;
  parts.first_capture = parts.first_scan + parts.scanned;
  return parts;
}

Status PlanWriter::add_loop(const GraphTasks& tasks, int index, Scope& scope, Block& block) {
  const Graph& graph = *tasks.graph;
  const Node& node = graph.nodes[static_cast<std::size_t>(index)];
  const ops::OpCall call = graph::call_of(graph, node);
  const LoopParts parts = parts_of(node, call);
  const GraphTasks& body = *tasks.bodies.at({index, 0});
  runtime::Loop loop;
  loop.layer = node.name;
  if (parts.has_trip_count) {
    if (const auto trips = graph.value(node.inputs[0]).constant) {
      loop.trip_count = trips->integer(0);
    } else {
      loop.trip_count_buffer = scope.buffer(node.inputs[0]);
    }
  } else {
    loop.trip_count = parts.max_trips;
  }
  std::vector<BufferId> inner_inputs, scans, captured;
  loop.iteration = memory_.arena(8);
  inner_inputs.push_back(loop.iteration);
  const std::vector<BufferId> state = add_state(parts, node, body, scope, loop, block);
  inner_inputs.insert(inner_inputs.end(), state.begin(), state.end());
  if (parts.has_condition) {
    loop.condition = memory_.arena(1);
    if (node.inputs[1] != kNoValue) {
      add_copy(block, scope.buffer(node.inputs[1]), loop.condition, 1);
    }
  }
  for (std::size_t i = 0; i < parts.scanned; ++i) {
    const graph::Value& slice = body.graph->value(body.graph->inputs[1 + parts.carried + i]);
    scans.push_back(scope.buffer(node.inputs[parts.first_scan + i]));
    inner_inputs.push_back(memory_.arena(graph::physical_bytes(slice)));
  }
  for (std::size_t i = parts.first_capture; i < node.inputs.size(); ++i) {
    captured.push_back(scope.buffer(node.inputs[i]));
    inner_inputs.push_back(captured.back());
  }
  std::vector<BufferId> stacked;
  for (std::size_t i = 0; i < parts.scan_outputs; ++i) {
    const ValueId id = node.outputs[parts.carried + i];
    stacked.push_back(scope.buffer(id));
    const auto& extents = graph.value(id).type.extents;
    if (!extents.empty() && extents[0] != ops::kConstantExtent) {
      loop.iterations_extent = extents[0];
      extents_ = std::max(extents_, extents[0] + 1);
    }
  }
  memory_.advance();
  add_slices(call, parts, scans, inner_inputs, body, loop.body);
  ATTUNE_RETURN_IF_ERROR(add_body(call, parts, body, inner_inputs, state, stacked, loop));
  touch_all(inner_inputs, scans, captured);
  touch_all(state, stacked, {loop.condition, loop.trip_count_buffer});
  for (const runtime::Handover& handover : loop.handovers) memory_.touch(handover.next);
  add(block, {std::move(loop)});
  for (std::size_t i = 0; i < parts.carried; ++i) {
    add_copy(block, state[i], scope.buffer(node.outputs[i]),
             graph::physical_bytes(graph.value(node.outputs[i])));
  }
  return {};
}

std::vector<runtime::BufferId> PlanWriter::add_state(const LoopParts& parts, const Node& node,
                                                     const GraphTasks& body, Scope& scope,
                                                     runtime::Loop& loop, Block& block) {
  std::vector<BufferId> state;
  for (std::size_t i = 0; i < parts.carried; ++i) {
    const ValueId from = node.inputs[parts.first_carried + i];
    const ValueId next = body.graph->outputs[(parts.has_condition ? 1 : 0) + i];
    const std::int64_t bytes = graph::physical_bytes(body.graph->value(next));
    const bool handed = can_be_handed(body, next);
    const BufferId result = scope.buffer(node.outputs[i]);
    state.push_back(handed && !memory_.is_whole(result) ? memory_.arena(bytes) : result);
    add_copy(block, scope.buffer(from), state.back(), bytes);
    if (handed) loop.handovers.push_back({state.back(), memory_.arena(bytes)});
  }
  return state;
}

void PlanWriter::add_slices(const ops::OpCall& call, const LoopParts& parts,
                            const std::vector<BufferId>& scans,
                            const std::vector<BufferId>& inner_inputs, const GraphTasks& body,
                            Block& block) {
  for (std::size_t i = 0; i < parts.scanned; ++i) {
    const std::int64_t bytes =
        graph::physical_bytes(body.graph->value(body.graph->inputs[1 + parts.carried + i]));
    const std::int64_t count = call.inputs[parts.first_scan + i].shape[0];
    const bool reverse = call.integers("reverse_inputs")[i] != 0;
    add_copy(block, scans[i], inner_inputs[1 + parts.carried + i], bytes,
             steps_of(bytes, count, reverse, true));
  }
}

Status PlanWriter::add_body(const ops::OpCall& call, const LoopParts& parts, const GraphTasks& body,
                            const std::vector<BufferId>& inner_inputs,
                            const std::vector<BufferId>& state,
                            const std::vector<BufferId>& stacked, runtime::Loop& loop) {
  const Graph& inner = *body.graph;
  const std::size_t first = parts.has_condition ? 1 : 0;
  Scope scope = body_scope(body, inner_inputs);
  for (const auto& [now, next] : loop.handovers) {
    const auto i = std::find(state.begin(), state.end(), now) - state.begin();
    scope.bind(inner.outputs[first + static_cast<std::size_t>(i)], next);
  }
  ATTUNE_RETURN_IF_ERROR(add_groups(body, scope, loop.body));
  for (std::size_t i = 0; i < stacked.size(); ++i) {
    const ValueId id = inner.outputs[first + parts.carried + i];
    const std::int64_t bytes = graph::physical_bytes(inner.value(id));
    const bool reverse = call.integers("reverse_outputs")[i] != 0;
    add_copy_of(loop.body, inner, id, scope, stacked[i],
                steps_of(bytes, parts.max_trips, reverse, false));
  }
  // A value that is itself state of this iteration must not be overwritten before it is read.
  std::vector<BufferId> saved;
  for (std::size_t i = 0; i < parts.carried; ++i) {
    const ValueId id = inner.outputs[first + i];
    const BufferId from = scope.buffer(scope.pieces().of_value[static_cast<std::size_t>(id)].whole);
    const bool is_state = std::find(state.begin(), state.end(), from) != state.end();
    saved.push_back(runtime::kNone);
    if (!is_state || from == state[i]) continue;
    saved.back() = memory_.arena(graph::physical_bytes(inner.value(id)));
    add_copy_of(loop.body, inner, id, scope, saved.back());
  }
  for (std::size_t i = 0; i < parts.carried; ++i) {
    const ValueId id = inner.outputs[first + i];
    const auto is_its = [&](const runtime::Handover& one) { return one.now == state[i]; };
    if (std::any_of(loop.handovers.begin(), loop.handovers.end(), is_its)) continue;
    if (saved[i] == runtime::kNone) {
      add_copy_of(loop.body, inner, id, scope, state[i]);
    } else {
      add_copy(loop.body, saved[i], state[i], graph::physical_bytes(inner.value(id)));
    }
  }
  if (parts.has_condition) {
    add_copy_of(loop.body, inner, inner.outputs[0], scope, loop.condition);
  }
  return {};
}

}  // namespace attune::model
