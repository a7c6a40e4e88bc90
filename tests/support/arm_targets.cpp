#include "tests/support/arm_targets.h"

#include <cstring>

#include "base/temporary_directory_testing.h"
#include "compiler/kernel/element_type.h"
#include "compiler/model/compile_model_testing.h"
#include "targets/kinds.h"
#include "tests/support/emulated.h"

namespace attune::test {
namespace {

using runtime::Tensor;

void append(std::string& bytes, const void* data, std::size_t size) {
  bytes.append(static_cast<const char*>(data), size);
}

// As tests/arm/run_outputs.c reads them.
std::string packed(const std::vector<Tensor>& tensors) {
  std::string bytes;
  for (const Tensor& tensor : tensors) {
    const auto rank = static_cast<std::int64_t>(tensor.shape().size());
    append(bytes, &rank, sizeof rank);
    append(bytes, tensor.shape().data(), tensor.shape().size() * sizeof(std::int64_t));
    append(bytes, tensor.data(), tensor.bytes());
  }
  return bytes;
}

Result<std::vector<Tensor>> unpacked(const std::string& bytes,
                                     const std::vector<runtime::InterfaceTensor>& outputs) {
  std::vector<Tensor> tensors;
  std::size_t at = 0;
  const auto take = [&](void* to, std::size_t size) {
    CHECK(size <= bytes.size() - at, "the emulated program wrote too little");
    if (size > 0) std::memcpy(to, bytes.data() + at, size);
    at += size;
  };
  for (const runtime::InterfaceTensor& output : outputs) {
    std::int64_t rank = 0;
    take(&rank, sizeof rank);
    std::vector<std::int64_t> shape(static_cast<std::size_t>(rank));
    take(shape.data(), shape.size() * sizeof(std::int64_t));
    ATTUNE_ASSIGN(Tensor tensor, Tensor::allocate(output.type, shape));
    take(tensor.data(), tensor.bytes());
    tensors.push_back(std::move(tensor));
  }
  return tensors;
}

Result<Tensor> tensor_of(const ops::Constant& constant) {
  ATTUNE_ASSIGN(const runtime::DType type, kernel::element_type(constant.type.dtype));
  ATTUNE_ASSIGN(Tensor tensor, Tensor::allocate(type, constant.type.shape));
  if (tensor.bytes() > 0) std::memcpy(tensor.data(), constant.bytes.data(), tensor.bytes());
  return tensor;
}

ops::ConstantPtr constant_of(const Tensor& tensor, ir::DType type) {
  ir::Array array(type, {tensor.shape().begin(), tensor.shape().end()});
  if (tensor.bytes() > 0) std::memcpy(array.data.data(), tensor.data(), tensor.bytes());
  return ops::make_constant(std::move(array));
}

Result<GraphRun> run_graph(const graph::Graph& graph, const std::vector<ops::ConstantPtr>& inputs,
                           const target::Target& target) {
  model::CompileOptions options;
  options.target = target;
  options.name = graph.name;
  ATTUNE_ASSIGN(model::CompiledModel model, model::compile_model(graph, options));
  if (!model.fallbacks.empty()) return unsupported(model::summarize(model.fallbacks));
  std::vector<Tensor> given;
  for (const ops::ConstantPtr& input : inputs) {
    ATTUNE_ASSIGN(Tensor tensor, tensor_of(*input));
    given.push_back(std::move(tensor));
  }
  ATTUNE_ASSIGN(const std::vector<Tensor> found, run_on_arm(model, given));
  GraphRun run;
  for (std::size_t i = 0; i < found.size(); ++i) {
    run.outputs.push_back(constant_of(found[i], graph.value(graph.outputs[i]).type.dtype));
  }
  run.tasks = std::move(model.tasks.distinct);
  return run;
}

ConformanceTarget emulated(const target::Target& target) {
  return {.name = to_string(target),
          .target = target,
          .run =
              [target](const graph::Graph& graph, const std::vector<ops::ConstantPtr>& inputs) {
                return run_graph(graph, inputs, target);
              },
          .check =
              [target](const ir::Program& program, const schedule::Trace& trace,
                       const Reference& reference, double tolerance) {
                return check_trace(program, trace, target, reference, tolerance, Way::Emulated);
              }};
}

}  // namespace

target::Target arm_target(const std::string& core) {
  const auto parsed = targets::parse("cpu -triple=aarch64-linux-gnu -mcpu=" + core + " -threads=2");
  return targets::resolve(parsed.value()).value();
}

Result<std::vector<Tensor>> run_on_arm(const model::CompiledModel& model,
                                       const std::vector<Tensor>& inputs) {
  const TemporaryDirectory directory;
  ATTUNE_RETURN_IF_ERROR(model::write(model, directory.file("model.attune")));
  directory.write("inputs", packed(inputs));
  const ProcessResult run = run_emulated(
      "run_outputs",
      {directory.file("model.attune"), directory.file("outputs"), directory.file("inputs")});
  if (run.status != 0) {
    return Error{ErrorCode::Io, "under the emulator: " + run.errors, ""};
  }
  return unpacked(directory.read("outputs"), model.plan.outputs);
}

const std::vector<ConformanceTarget>& arm_targets() {
  static const std::vector<ConformanceTarget> all = [] {
    std::vector<ConformanceTarget> list;
    for (const char* core : kArmCores) list.push_back(emulated(arm_target(core)));
    return list;
  }();
  return all;
}

}  // namespace attune::test
