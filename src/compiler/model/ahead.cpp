#include "compiler/model/ahead.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "compiler/graph/program.h"
#include "compiler/kernel/element_type.h"
#include "compiler/kernel/kernel.h"
#include "compiler/model/kernels.h"
#include "compiler/model/plan/host_operators.h"
#include "runtime/host/host.h"
#include "runtime/memory/memory.h"
#include "targets/kinds.h"

namespace attune::model {
namespace {

using graph::Graph;
using graph::Node;
using graph::ValueId;

// Memory for a tensor with this type, and the constant that it will be.
struct Room {
  std::shared_ptr<runtime::Memory> memory;
  ops::ConstantPtr constant;
};

Result<Room> make_room(const ops::TensorType& type) {
  const auto bytes = static_cast<std::size_t>(type.bytes());
  ATTUNE_ASSIGN(runtime::Memory memory, runtime::Memory::allocate(bytes));
  Room room;
  room.memory = std::make_shared<runtime::Memory>(std::move(memory));
  const auto* data = static_cast<const std::byte*>(room.memory->data());
  room.constant =
      std::make_shared<const ops::Constant>(ops::Constant{type, {data, bytes}, room.memory});
  return room;
}

Result<std::vector<ops::ConstantPtr>> run_compiled(const ops::OpCall& call, AheadRunner& runner,
                                                   int number) {
  graph::Task task;
  ATTUNE_ASSIGN(task.op.program, graph::program_of(call));
  // Its inputs are given, not to be laid out anew.
  for (ir::Input& input : task.op.program.inputs) input.constant = false;
  ATTUNE_ASSIGN(const CompiledTask compiled,
                compile_task(task, usual_schedule(task, runner.target(), {"direct"}),
                             runner.target(), fmt::format("ahead{}", number)));
  ATTUNE_RETURN_IF_ERROR(runner.load({compiled.main}));
  std::vector<const ops::Constant*> present;
  for (std::size_t i = 0; i < call.inputs.size(); ++i) {
    if (call.has(i)) present.push_back(call.constants[i].get());
  }
  ATTUNE_ASSIGN(const std::vector<ops::TensorType> types,
                ops::find_operator(call.name)->infer(call));
  ATTUNE_ASSIGN(const Room room, make_room(types.at(0)));
  std::vector<void*> arguments;
  for (const kernel::Parameter& parameter : compiled.main.parameters) {
    const void* data = parameter.is_input()
                           ? present[static_cast<std::size_t>(parameter.index)]->bytes.data()
                           : room.memory->data();
    arguments.push_back(const_cast<void*>(data));
  }
  ATTUNE_RETURN_IF_ERROR(runner.run(compiled.main, arguments));
  return std::vector{room.constant};
}

}  // namespace

Result<std::vector<ops::ConstantPtr>> run_host_on_constants(const ops::OpCall& call) {
  const ops::OpDef* def = ops::find_operator(call.name);
  ATTUNE_ASSIGN(const std::vector<ops::TensorType> types, def->infer(call));
  std::vector<runtime::HostTensor> inputs, outputs;
  for (std::size_t i = 0; i < call.inputs.size(); ++i) {
    runtime::HostTensor tensor;
    tensor.present = call.has(i);
    if (tensor.present) {
      ATTUNE_ASSIGN(tensor.type, kernel::element_type(call.inputs[i].dtype));
      tensor.shape = runtime::Shape(call.inputs[i].shape);
      tensor.data = const_cast<std::byte*>(call.constants[i]->bytes.data());
      tensor.capacity_bytes = call.inputs[i].bytes();
    }
    inputs.push_back(tensor);
  }
  std::vector<Room> rooms;
  for (const ops::TensorType& type : types) {
    ATTUNE_ASSIGN(Room room, make_room(type));
    runtime::HostTensor tensor;
    ATTUNE_ASSIGN(tensor.type, kernel::element_type(type.dtype));
    tensor.shape = runtime::Shape(type.shape);
    tensor.data = room.memory->data();
    tensor.capacity_bytes = type.bytes();
    outputs.push_back(tensor);
    rooms.push_back(std::move(room));
  }
  ATTUNE_ASSIGN(const HostOperator op, host_operator(call.name, call.attributes));
  ATTUNE_RETURN_IF_ERROR(runtime::run_host(op.name, op.attributes, inputs, outputs));
  std::vector<ops::ConstantPtr> results;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const auto extents = outputs[i].shape.span();
    ops::TensorType type{types[i].dtype, {extents.begin(), extents.end()}, {}};
    const auto bytes = rooms[i].constant->bytes.first(static_cast<std::size_t>(type.bytes()));
    results.push_back(
        std::make_shared<const ops::Constant>(ops::Constant{type, bytes, rooms[i].memory}));
  }
  return results;
}

Result<target::Target> ahead_target(const target::Target& target) {
  ATTUNE_ASSIGN(target::Target here, targets::this_machine());
  const bool on_host = !targets::kind_of(target).requirements(target).own_memory;
  if (on_host) here.threads = std::max(1, std::min(target.threads, here.threads));
  return here;
}

Result<AheadRunner> AheadRunner::create(const target::Target& target) {
  AheadRunner runner;
  ATTUNE_ASSIGN(runner.target_, ahead_target(target));
  return runner;
}

Status AheadRunner::open() {
  if (device_ != nullptr) return {};
  ATTUNE_ASSIGN(const runtime::DeviceKind* kind,
                runtime::find_device(runtime::devices(), target_.kind));
  ATTUNE_ASSIGN(device_, kind->open(target::to_string(target_)));
  pool_ =
      std::make_unique<runtime::ThreadPool>(runtime::ThreadPoolOptions{.workers = target_.threads});
  return {};
}

Status AheadRunner::load(const std::vector<kernel::Kernel>& kernels) {
  if (kernels.empty()) return {};
  ATTUNE_RETURN_IF_ERROR(open());
  std::vector<codegen::KernelObject> objects;
  for (const kernel::Kernel& kernel : kernels) objects.push_back(kernel.object);
  auto linked = kernel::link(objects, target_);
  if (!linked.ok()) return linked.error();
  ATTUNE_ASSIGN(std::shared_ptr<runtime::LoadedCode> code, device_->load(*linked));
  for (const codegen::KernelObject& object : objects) {
    ATTUNE_ASSIGN(const runtime::KernelHandle handle, code->kernel(object.entry.symbol));
    loaded_[object.entry.symbol] = {code, handle, object.entry.workspace_bytes};
  }
  return {};
}

Status AheadRunner::run(const kernel::Kernel& kernel, const std::vector<void*>& arguments) {
  const auto found = loaded_.find(kernel.object.entry.symbol);
  CHECK(found != loaded_.end(), "a kernel is run before it is loaded");
  auto workspace =
      runtime::Memory::allocate(static_cast<std::size_t>(found->second.workspace_bytes));
  if (!workspace.ok()) return workspace.error();
  // Kernels rely on aligned memory; constants in a model's file may lie anywhere.
  std::vector<void*> aligned = arguments;
  std::vector<runtime::Memory> copies;
  for (std::size_t i = 0; i < aligned.size(); ++i) {
    if (reinterpret_cast<std::uintptr_t>(aligned[i]) % runtime::kAlignment == 0) continue;
    const auto bytes = static_cast<std::size_t>(kernel.parameters[i].bytes());
    auto copy = runtime::Memory::allocate(bytes);
    if (!copy.ok()) return copy.error();
    std::memcpy(copy->data(), aligned[i], bytes);
    aligned[i] = copy->data();
    copies.push_back(std::move(*copy));
  }
  ATTUNE_ASSIGN(const auto stream,
                device_->open_stream({.pool = pool_.get(), .workspace = workspace->data()}));
  ATTUNE_RETURN_IF_ERROR(stream->launch(found->second.kernel, aligned));
  return stream->wait();
}

Result<Graph> compute_constants(const Graph& graph, AheadRunner& runner) {
  Graph result = graph;
  result.nodes.clear();
  int number = 0;
  graph::Folding folding;
  folding.run_kernel = [&](const ops::OpCall& call) {
    return run_compiled(call, runner, number++);
  };
  for (const Node& node : graph.nodes) {
    Node copy = node;
    for (auto& body : copy.bodies) {
      ATTUNE_ASSIGN(Graph inner, compute_constants(*body, runner));
      body = std::make_shared<const Graph>(std::move(inner));
    }
    std::vector<ops::TensorType> types;
    for (const ValueId id : node.outputs) types.push_back(result.value(id).type);
    ATTUNE_ASSIGN(const auto folded, graph::fold(graph::call_of(result, node), types, folding));
    if (!folded) {
      result.nodes.push_back(std::move(copy));
      continue;
    }
    for (std::size_t i = 0; i < types.size(); ++i) {
      result.value(node.outputs[i]).constant = (*folded)[i];
    }
  }
  return result;
}

}  // namespace attune::model
