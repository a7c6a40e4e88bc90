#include "app/deploy/plan_builder.h"

#include <fmt/format.h>

#include <algorithm>

#include "app/deploy/host_operators.h"
#include "app/deploy/plan_memory.h"
#include "app/deploy/plan_scope.h"
#include "compiler/graph/frame.h"
#include "runtime/memory.h"
#include "tuner/measure/builder/element_type.h"

namespace attune::deploy {
namespace {

using graph::Graph;
using graph::kNoValue;
using graph::Node;
using graph::ValueId;
using runtime::Block;
using runtime::BufferId;

class PlanBuilder {
 public:
  PlanBuilder(const std::vector<CompiledTask>& kernels, AheadRunner& ahead, runtime::Plan& plan,
              Weights& weights)
      : kernels_(kernels), ahead_(ahead), plan_(plan), weights_(weights) {}

  Status build(const GraphTasks& tasks) {
    const Graph& graph = *tasks.graph;
    Scope scope(graph, tasks.pieces, memory_, weights_);
    for (std::size_t i = 0; i < graph.inputs.size(); ++i) {
      const graph::Value& value = graph.value(graph.inputs[i]);
      ATTUNE_RETURN_IF_ERROR(add_interface(value, plan_.inputs));
      scope.bind(graph.inputs[i],
                 memory_.input(static_cast<std::int64_t>(i), graph::physical_bytes(value)));
    }
    for (std::size_t i = 0; i < graph.outputs.size(); ++i) {
      const graph::Value& value = graph.value(graph.outputs[i]);
      ATTUNE_RETURN_IF_ERROR(add_interface(value, plan_.outputs));
      outputs_.push_back(
          memory_.output(static_cast<std::int64_t>(i), graph::physical_bytes(value)));
      scope.bind_output(graph.outputs[i], outputs_.back());
    }
    ATTUNE_RETURN_IF_ERROR(add_groups(tasks, scope, plan_.body));
    for (std::size_t i = 0; i < graph.outputs.size(); ++i) {
      add_copy(plan_.body, scope.buffer(graph.outputs[i]), outputs_[i],
               graph::physical_bytes(graph.value(graph.outputs[i])));
    }
    memory_.finish(plan_);
    plan_.extents = extents_;
    for (const runtime::Kernel& kernel : plan_.kernels) {
      plan_.workspace_bytes = std::max(plan_.workspace_bytes, kernel.workspace_bytes);
    }
    plan_.peak_bytes = plan_.arena_bytes + plan_.workspace_bytes;
    for (const runtime::Buffer& buffer : plan_.buffers) {
      const bool outside =
          buffer.place == runtime::Place::Input || buffer.place == runtime::Place::Output;
      if (outside) plan_.peak_bytes += buffer.bytes;
    }
    return {};
  }

 private:
  Result<std::vector<runtime::Dim>> dims_of(const ops::TensorType& type) {
    std::vector<runtime::Dim> dims;
    for (std::size_t i = 0; i < type.shape.size(); ++i) {
      const int extent = type.extents.empty() ? ops::kConstantExtent : type.extents[i];
      dims.push_back({type.shape[i], extent});
      extents_ = std::max(extents_, extent + 1);
    }
    return dims;
  }

  Status add_interface(const graph::Value& value, std::vector<runtime::InterfaceTensor>& list) {
    auto type = builder::element_type(value.type.dtype);
    if (!type.ok()) return type.error();
    auto dims = dims_of(value.type);
    if (!dims.ok()) return dims.error();
    list.push_back({value.name, *type, *dims});
    return {};
  }

  void add(Block& block, runtime::Instruction instruction) {
    block.push_back(std::move(instruction));
    memory_.advance();
  }

  // Nothing when the buffers are the same.
  void add_copy(Block& block, BufferId from, BufferId to, std::int64_t bytes,
                runtime::Copy steps = {}) {
    if (from == to || bytes == 0) return;
    memory_.touch(from);
    memory_.touch(to);
    steps.from = from;
    steps.to = to;
    steps.bytes = bytes;
    add(block, {steps});
  }

  Status add_groups(const GraphTasks& tasks, Scope& scope, Block& block) {
    const Graph& graph = *tasks.graph;
    for (const ModelGroup& group : tasks.groups) {
      const Node& last = graph.nodes[static_cast<std::size_t>(group.group.last())];
      const ops::OpKind kind = graph::operator_of(last).kind;
      if (group.task) {
        ATTUNE_RETURN_IF_ERROR(add_kernel(group, last, scope, block));
      } else if (last.op == "if") {
        ATTUNE_RETURN_IF_ERROR(add_if(tasks, group.group.last(), scope, block));
      } else if (last.op == "loop") {
        ATTUNE_RETURN_IF_ERROR(add_loop(tasks, group.group.last(), scope, block));
      } else if (runs_on_host(graph, last)) {
        ATTUNE_RETURN_IF_ERROR(add_host(graph, last, scope, block));
      } else if (kind == ops::OpKind::View) {
        add_copy(block, scope.buffer(last.inputs[0]), scope.buffer(last.outputs[0]),
                 graph::physical_bytes(graph.value(last.outputs[0])));
      } else if (last.op == "concat") {
        copy_operands(graph, last, scope, block);
      }
    }
    return {};
  }

  // Those operands of a concatenation that do not lie in its result already.
  void copy_operands(const Graph& graph, const Node& node, Scope& scope, Block& block) {
    const auto offsets = graph::operand_offsets(graph, node);
    if (!offsets) return;  // of zero elements
    const auto& pieces = scope.pieces().of_value;
    const graph::Piece result = pieces[static_cast<std::size_t>(node.outputs[0])];
    for (std::size_t i = 0; i < node.inputs.size(); ++i) {
      const graph::Piece operand = pieces[static_cast<std::size_t>(node.inputs[i])];
      const std::int64_t offset = (*offsets)[i];
      if (operand.whole == result.whole && operand.offset == result.offset + offset) continue;
      runtime::Copy steps;
      steps.to_offset = offset;
      add_copy(block, scope.buffer(node.inputs[i]), scope.buffer(node.outputs[0]),
               graph::physical_bytes(graph.value(node.inputs[i])), steps);
    }
  }

  Status add_kernel(const ModelGroup& group, const Node& last, Scope& scope, Block& block) {
    const CompiledTask& kernel = kernels_[group.distinct];
    std::vector<BufferId> prepared;
    ATTUNE_RETURN_IF_ERROR(prepare(kernel.lowered, *group.task, scope, prepared));
    runtime::KernelCall call{
        static_cast<std::int32_t>(group.distinct), {}, last.name, group_flops_[group.distinct]};
    for (const Argument& argument : kernel.lowered.arguments) {
      BufferId buffer = runtime::kNone;
      switch (argument.kind) {
        case Argument::Kind::Input:
          buffer = scope.buffer(group.task->inputs[argument.index]);
          break;
        case Argument::Kind::Prepared:
          buffer = prepared[argument.index];
          break;
        case Argument::Kind::Output:
          buffer = scope.buffer(group.task->output);
          break;
      }
      memory_.touch(buffer);
      call.buffers.push_back(buffer);
    }
    add(block, {std::move(call)});
    return {};
  }

  // Runs the prepare kernel on the constants of this use of the task.
  Status prepare(const LoweredTask& lowered, const graph::Task& task, Scope& scope,
                 std::vector<BufferId>& prepared) {
    if (!lowered.prepare) return {};
    std::vector<void*> arguments;
    std::vector<std::shared_ptr<runtime::Memory>> rooms;
    for (const Argument& argument : lowered.prepare_arguments) {
      if (argument.kind == Argument::Kind::Input) {
        const auto& constant = scope.constant(task.inputs[argument.index]);
        arguments.push_back(const_cast<std::byte*>(constant->bytes.data()));
        continue;
      }
      const ir::BufferNode& buffer = *argument.buffer;
      auto memory = runtime::Memory::allocate(
          static_cast<std::size_t>(ir::element_count(buffer) * buffer.type.element_bytes()));
      if (!memory.ok()) return memory.error();
      rooms.push_back(std::make_shared<runtime::Memory>(std::move(*memory)));
      arguments.push_back(rooms.back()->data());
    }
    ATTUNE_RETURN_IF_ERROR(ahead_.run(*lowered.prepare, arguments));
    for (const auto& room : rooms) {
      const std::span bytes(static_cast<const std::byte*>(room->data()), room->bytes());
      prepared.push_back(
          memory_.constant(weights_.add(bytes, room), static_cast<std::int64_t>(room->bytes())));
    }
    return {};
  }

  Result<runtime::Operand> operand_of(const Graph& graph, ValueId id, Scope& scope) {
    runtime::Operand operand;
    if (id == kNoValue) return operand;
    const graph::Value& value = graph.value(id);
    ATTUNE_ASSIGN(operand.type, builder::element_type(value.type.dtype));
    ATTUNE_ASSIGN(operand.dims, dims_of(value.type));
    operand.buffer = scope.buffer(id);
    memory_.touch(operand.buffer);
    return operand;
  }

  Status add_host(const Graph& graph, const Node& node, Scope& scope, Block& block) {
    auto op = host_operator(node.op, node.attributes);
    if (!op.ok()) return op.error();
    runtime::HostCall call{std::move(op->name), std::move(op->attributes), {}, {}, node.name};
    for (const ValueId id : node.inputs) {
      auto operand = operand_of(graph, id, scope);
      if (!operand.ok()) return operand.error();
      call.inputs.push_back(std::move(*operand));
    }
    for (const ValueId id : node.outputs) {
      auto operand = operand_of(graph, id, scope);
      if (!operand.ok()) return operand.error();
      call.outputs.push_back(std::move(*operand));
    }
    add(block, {std::move(call)});
    return {};
  }

  // A body's scope with its inputs bound; the last of them are what it captures.
  Scope body_scope(const GraphTasks& tasks, const std::vector<BufferId>& inputs) {
    const Graph& body = *tasks.graph;
    Scope scope(body, tasks.pieces, memory_, weights_);
    CHECK(inputs.size() == body.inputs.size(), "a body has other inputs than it is given");
    for (std::size_t i = 0; i < inputs.size(); ++i) scope.bind(body.inputs[i], inputs[i]);
    return scope;
  }

  Status add_if(const GraphTasks& tasks, int index, Scope& scope, Block& block) {
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
        const ValueId id = body.graph->outputs[i];
        add_copy(branch, inner.buffer(id), results[i],
                 graph::physical_bytes(body.graph->value(id)));
      }
    }
    touch_all({instruction.condition}, captured, results);
    add(block, {std::move(instruction)});
    return {};
  }

  void touch_all(const std::vector<BufferId>& a, const std::vector<BufferId>& b,
                 const std::vector<BufferId>& c) {
    for (const auto* list : {&a, &b, &c}) {
      for (const BufferId buffer : *list) {
        if (buffer != runtime::kNone) memory_.touch(buffer);
      }
    }
  }

  struct LoopParts {
    std::size_t carried, scanned, scan_outputs, first_carried, first_scan, first_capture;
    bool has_trip_count, has_condition;
    std::int64_t max_trips;
  };

  static LoopParts parts_of(const Node& node, const ops::OpCall& call) {
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

  Status add_loop(const GraphTasks& tasks, int index, Scope& scope, Block& block) {
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
    std::vector<BufferId> state, inner_inputs, scans, captured;
    loop.iteration = memory_.arena(8);
    inner_inputs.push_back(loop.iteration);
    for (std::size_t i = 0; i < parts.carried; ++i) {
      state.push_back(scope.buffer(node.outputs[i]));
      const ValueId from = node.inputs[parts.first_carried + i];
      add_copy(block, scope.buffer(from), state.back(), graph::physical_bytes(graph.value(from)));
      inner_inputs.push_back(state.back());
    }
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
    add(block, {std::move(loop)});
    return {};
  }

  static runtime::Copy steps_of(std::int64_t bytes, std::int64_t count, bool reverse,
                                bool reading) {
    runtime::Copy copy;
    const std::int64_t offset = reverse ? (count - 1) * bytes : 0;
    const std::int64_t step = reverse ? -bytes : bytes;
    (reading ? copy.from_offset : copy.to_offset) = offset;
    (reading ? copy.from_step : copy.to_step) = step;
    return copy;
  }

  void add_slices(const ops::OpCall& call, const LoopParts& parts,
                  const std::vector<BufferId>& scans, const std::vector<BufferId>& inner_inputs,
                  const GraphTasks& body, Block& block) {
    for (std::size_t i = 0; i < parts.scanned; ++i) {
      const std::int64_t bytes =
          graph::physical_bytes(body.graph->value(body.graph->inputs[1 + parts.carried + i]));
      const std::int64_t count = call.inputs[parts.first_scan + i].shape[0];
      const bool reverse = call.integers("reverse_inputs")[i] != 0;
      add_copy(block, scans[i], inner_inputs[1 + parts.carried + i], bytes,
               steps_of(bytes, count, reverse, true));
    }
  }

  // The body, what it stacks, and what goes on to the next iteration.
  Status add_body(const ops::OpCall& call, const LoopParts& parts, const GraphTasks& body,
                  const std::vector<BufferId>& inner_inputs, const std::vector<BufferId>& state,
                  const std::vector<BufferId>& stacked, runtime::Loop& loop) {
    const Graph& inner = *body.graph;
    Scope scope = body_scope(body, inner_inputs);
    ATTUNE_RETURN_IF_ERROR(add_groups(body, scope, loop.body));
    const std::size_t first = parts.has_condition ? 1 : 0;
    for (std::size_t i = 0; i < stacked.size(); ++i) {
      const ValueId id = inner.outputs[first + parts.carried + i];
      const std::int64_t bytes = graph::physical_bytes(inner.value(id));
      const bool reverse = call.integers("reverse_outputs")[i] != 0;
      add_copy(loop.body, scope.buffer(id), stacked[i], bytes,
               steps_of(bytes, parts.max_trips, reverse, false));
    }
    // A value that is itself state of this iteration must not be overwritten before it is read.
    std::vector<BufferId> next;
    for (std::size_t i = 0; i < parts.carried; ++i) {
      const ValueId id = inner.outputs[first + i];
      BufferId from = scope.buffer(id);
      const bool is_state = std::find(state.begin(), state.end(), from) != state.end();
      if (is_state && from != state[i]) {
        const std::int64_t bytes = graph::physical_bytes(inner.value(id));
        const BufferId saved = memory_.arena(bytes);
        add_copy(loop.body, from, saved, bytes);
        from = saved;
      }
      next.push_back(from);
    }
    for (std::size_t i = 0; i < parts.carried; ++i) {
      add_copy(loop.body, next[i], state[i],
               graph::physical_bytes(inner.value(inner.outputs[first + i])));
    }
    if (parts.has_condition) {
      add_copy(loop.body, scope.buffer(inner.outputs[0]), loop.condition, 1);
    }
    return {};
  }

 public:
  void set_flops(const std::vector<graph::Task>& tasks) {
    for (const graph::Task& task : tasks) group_flops_.push_back(task.op.flops);
  }

 private:
  const std::vector<CompiledTask>& kernels_;
  AheadRunner& ahead_;
  runtime::Plan& plan_;
  Weights& weights_;
  PlanMemory memory_;
  std::vector<double> group_flops_;
  std::vector<BufferId> outputs_;
  int extents_ = 0;
};

}  // namespace

Status build_plan(const ModelTasks& tasks, const std::vector<CompiledTask>& kernels,
                  AheadRunner& ahead, runtime::Plan& plan, Weights& weights) {
  PlanBuilder builder(kernels, ahead, plan, weights);
  builder.set_flops(tasks.distinct);
  return builder.build(*tasks.main);
}

}  // namespace attune::deploy
