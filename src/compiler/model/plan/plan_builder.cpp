#include "compiler/model/plan/plan_builder.h"

#include <algorithm>

#include "compiler/graph/frame.h"
#include "compiler/kernel/element_type.h"
#include "compiler/kernel/kernel.h"
#include "compiler/model/plan/host_operators.h"
#include "compiler/model/plan/interface.h"
#include "compiler/model/plan/plan_writer.h"
#include "runtime/memory/memory.h"

namespace attune::model {

using graph::kNoValue;

Status PlanWriter::write() {
  const GraphTasks& tasks = *tasks_.main;
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
    outputs_.push_back(memory_.output(static_cast<std::int64_t>(i), graph::physical_bytes(value)));
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

std::vector<runtime::Dim> PlanWriter::noted(std::vector<runtime::Dim> dims) {
  for (const runtime::Dim& dim : dims) extents_ = std::max(extents_, dim.extent + 1);
  return dims;
}

Status PlanWriter::add_interface(const graph::Value& value,
                                 std::vector<runtime::InterfaceTensor>& list) {
  ATTUNE_ASSIGN(runtime::InterfaceTensor tensor, interface_of(value));
  tensor.dims = noted(std::move(tensor.dims));
  list.push_back(std::move(tensor));
  return {};
}

void PlanWriter::add(Block& block, runtime::Instruction instruction) {
  block.push_back(std::move(instruction));
  memory_.advance();
}

void PlanWriter::add_copy(Block& block, BufferId from, BufferId to, std::int64_t bytes,
                          runtime::Copy steps) {
  if (from == to || bytes == 0) return;
  memory_.touch(from);
  memory_.touch(to);
  steps.from = from;
  steps.to = to;
  steps.bytes = bytes;
  add(block, {steps});
}

void PlanWriter::add_copy_of(Block& block, const Graph& graph, ValueId id, Scope& scope,
                             BufferId to, runtime::Copy steps) {
  const graph::Piece& piece = scope.pieces().of_value[static_cast<std::size_t>(id)];
  const std::int64_t bytes = graph::physical_bytes(graph.value(id));
  steps.from_offset += piece.offset;
  add_copy(block, scope.buffer(piece.whole), to, bytes, steps);
}

Status PlanWriter::add_groups(const GraphTasks& tasks, Scope& scope, Block& block) {
  const Graph& graph = *tasks.graph;
  const LastReads reads(tasks);
  for (std::size_t g = 0; g < tasks.groups.size(); ++g) {
    const ModelGroup& group = tasks.groups[g];
    const Node& last = graph.nodes[static_cast<std::size_t>(group.group.last())];
    const ops::OpKind kind = graph::operator_of(last).kind;
    if (group.task) {
      ATTUNE_RETURN_IF_ERROR(add_kernel(tasks, g, reads, scope, block));
    } else if (last.op == "if") {
      ATTUNE_RETURN_IF_ERROR(add_if(tasks, group.group.last(), scope, block));
    } else if (last.op == "loop") {
      ATTUNE_RETURN_IF_ERROR(add_loop(tasks, group.group.last(), scope, block));
    } else if (runs_on_host(graph, last)) {
      ATTUNE_RETURN_IF_ERROR(add_host(graph, last, scope, block));
    } else if (kind == ops::OpKind::View) {
      if (scope.lie_together(last.inputs[0], last.outputs[0])) continue;
      add_copy(block, scope.buffer(last.inputs[0]), scope.buffer(last.outputs[0]),
               graph::physical_bytes(graph.value(last.outputs[0])));
    } else if (last.op == "concat") {
      copy_operands(graph, last, scope, block);
    }
  }
  return {};
}

void PlanWriter::copy_operands(const Graph& graph, const Node& node, Scope& scope, Block& block) {
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

Status PlanWriter::add_kernel(const GraphTasks& tasks, std::size_t at, const LastReads& reads,
                              Scope& scope, Block& block) {
  const ModelGroup& group = tasks.groups[at];
  const Node& last = tasks.graph->nodes[static_cast<std::size_t>(group.group.last())];
  const CompiledTask& kernel = *kernels_[group.distinct];
  // The output takes the memory of an input that nobody reads any more.
  for (const kernel::Parameter& parameter : kernel.main.parameters) {
    if (!parameter.in_place) continue;
    const ValueId input = group.task->inputs[static_cast<std::size_t>(parameter.index)];
    if (!reads.gives_way(input, group.task->output, at)) continue;
    scope.bind_output(group.task->output, scope.buffer(input));
    break;
  }
  std::vector<BufferId> prepared;
  ATTUNE_RETURN_IF_ERROR(prepare(kernel, *group.task, scope, prepared));
  runtime::KernelCall call{static_cast<std::int32_t>(group.distinct),
                           {},
                           last.name,
                           tasks_.distinct[group.distinct].op.flops};
  for (const kernel::Parameter& parameter : kernel.main.parameters) {
    const auto index = static_cast<std::size_t>(parameter.index);
    BufferId buffer = runtime::kNone;
    switch (parameter.kind) {
      case kernel::ParameterKind::Input:
      case kernel::ParameterKind::Constant:
        buffer = scope.buffer(group.task->inputs[index]);
        break;
      case kernel::ParameterKind::Prepared:
        buffer = prepared[index];
        break;
      case kernel::ParameterKind::Output:
        buffer = scope.buffer(group.task->output);
        break;
    }
    memory_.touch(buffer);
    call.buffers.push_back(buffer);
  }
  add(block, {std::move(call)});
  return {};
}

Status PlanWriter::prepare(const CompiledTask& kernel, const graph::Task& task, Scope& scope,
                           std::vector<BufferId>& prepared) {
  if (!kernel.prepare) return {};
  std::vector<void*> arguments;
  std::vector<std::shared_ptr<runtime::Memory>> rooms;
  for (const kernel::Parameter& parameter : kernel.prepare->parameters) {
    if (parameter.is_input()) {
      const auto& constant = scope.constant(task.inputs[static_cast<std::size_t>(parameter.index)]);
      arguments.push_back(const_cast<std::byte*>(constant->bytes.data()));
      continue;
    }
    auto memory = runtime::Memory::allocate(static_cast<std::size_t>(parameter.bytes()));
    if (!memory.ok()) return memory.error();
    rooms.push_back(std::make_shared<runtime::Memory>(std::move(*memory)));
    arguments.push_back(rooms.back()->data());
  }
  ATTUNE_RETURN_IF_ERROR(ahead_.run(*kernel.prepare, arguments));
  for (const auto& room : rooms) {
    const std::span bytes(static_cast<const std::byte*>(room->data()), room->bytes());
    prepared.push_back(
        memory_.constant(weights_.add(bytes, room), static_cast<std::int64_t>(room->bytes())));
  }
  return {};
}

Result<runtime::Operand> PlanWriter::operand_of(const Graph& graph, ValueId id, Scope& scope) {
  runtime::Operand operand;
  if (id == kNoValue) return operand;
  const graph::Value& value = graph.value(id);
  ATTUNE_ASSIGN(operand.type, kernel::element_type(value.type.dtype));
  operand.dims = noted(dims_of(value.type));
  operand.buffer = scope.buffer(id);
  memory_.touch(operand.buffer);
  return operand;
}

Status PlanWriter::add_host(const Graph& graph, const Node& node, Scope& scope, Block& block) {
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

Status build_plan(const ModelTasks& tasks, const std::vector<SharedKernel>& kernels,
                  AheadRunner& ahead, runtime::Plan& plan, Weights& weights) {
  return PlanWriter(tasks, kernels, ahead, plan, weights).write();
}

}  // namespace attune::model
