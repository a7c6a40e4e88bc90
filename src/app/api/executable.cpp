#include "app/api/executable.h"

#include <fmt/format.h>

#include "compiler/kernel/element_type.h"
#include "compiler/kernel/kernel.h"
#include "runtime/affinity.h"
#include "runtime/fill.h"
#include "tuner/measure/builder/build_candidate.h"

namespace attune::api {
namespace {

Result<runtime::Tensor> tensor_like(const ir::Buffer& buffer) {
  ATTUNE_ASSIGN(const runtime::DType type, kernel::element_type(buffer->type));
  return runtime::Tensor::allocate(type, buffer->shape);
}

}  // namespace

Result<measure::BuiltCandidate> build_schedule(const OperatorModel& model,
                                               const KnownSchedule& known) {
  builder::PrepareCache cache;
  const measure::BuildRequest request{
      .number = 0, .program = known.algorithm.program, .trace = known.trace};
  measure::BuiltCandidate built =
      builder::build_candidate(request, model.target, kernel::Limits{}, cache);
  if (built.failure) {
    return Error{ErrorCode::Unsupported,
                 fmt::format("cannot compile {} with {}: {}", model.task.spec, describe(known),
                             std::get<runtime::BuildFailed>(*built.failure).reason),
                 "'attune compile' with --emit shows the stages"};
  }
  return built;
}

Result<Executable> Executable::load(const OperatorModel& model,
                                    const measure::BuiltCandidate& built) {
  Executable executable;
  for (const ir::Input& input : model.task.program.inputs) {
    ATTUNE_ASSIGN(runtime::Tensor tensor, tensor_like(input.buffer));
    executable.inputs_.push_back(std::move(tensor));
  }
  for (const ir::Buffer& output : model.task.program.outputs) {
    ATTUNE_ASSIGN(runtime::Tensor tensor, tensor_like(output));
    executable.outputs_.push_back(std::move(tensor));
  }
  for (const kernel::Parameter& parameter : built.main->parameters) {
    if (parameter.kind != kernel::ParameterKind::Prepared) continue;
    ATTUNE_ASSIGN(runtime::Tensor tensor,
                  runtime::Tensor::allocate(parameter.type, {parameter.elements}));
    executable.prepared_.push_back(std::move(tensor));
  }
  if (built.prepare) {
    ATTUNE_ASSIGN(executable.prepare_, executable.load_kernel(*built.prepare));
  }
  ATTUNE_ASSIGN(executable.main_, executable.load_kernel(*built.main));

  executable.threads_ = built.threads;
  return executable;
}

Status Executable::start_threads() {
  std::vector<int> cores = runtime::allowed_cores();
  CHECK(static_cast<std::size_t>(threads_) <= cores.size(), "more threads than cores");
  cores.resize(static_cast<std::size_t>(threads_));
  ATTUNE_RETURN_IF_ERROR(runtime::pin_current_thread(cores.front()));
  pool_ = std::make_unique<runtime::ThreadPool>(
      runtime::ThreadPoolOptions{.workers = threads_, .cores = cores});
  return {};
}

void Executable::fill_inputs(std::uint64_t seed) {
  for (std::size_t i = 0; i < inputs_.size(); ++i) {
    runtime::Tensor& tensor = inputs_[i];
    runtime::fill(tensor.data(), tensor.type(), tensor.elements(), seed, static_cast<int>(i));
  }
}

Status Executable::prepare() {
  return prepare_.function == nullptr ? Status() : run_kernel(prepare_);
}

Status Executable::run() { return run_kernel(main_); }

Status Executable::run_kernel(const Kernel& kernel) {
  return runtime::run_kernel(kernel.function, *pool_, kernel.workspace.data(), kernel.buffers);
}

Result<Executable::Kernel> Executable::load_kernel(const measure::KernelCode& code) {
  Kernel kernel;
  ATTUNE_ASSIGN(runtime::KernelModule module, runtime::KernelModule::load(*code.object));
  ATTUNE_ASSIGN(kernel.function, module.kernel(code.symbol));
  kernel.module = std::make_unique<runtime::KernelModule>(std::move(module));
  ATTUNE_ASSIGN(kernel.workspace,
                runtime::Memory::allocate(static_cast<std::size_t>(code.workspace_bytes)));
  for (const kernel::Parameter& parameter : code.parameters) {
    ATTUNE_ASSIGN(void* const buffer, buffer_of(parameter));
    kernel.buffers.push_back(buffer);
  }
  return kernel;
}

Result<void*> Executable::buffer_of(const kernel::Parameter& parameter) {
  std::vector<runtime::Tensor>* tensors = &inputs_;
  if (parameter.kind == kernel::ParameterKind::Prepared) tensors = &prepared_;
  if (parameter.kind == kernel::ParameterKind::Output) tensors = &outputs_;
  const auto index = static_cast<std::size_t>(parameter.index);
  CHECK(index < tensors->size(), "a kernel parameter stands for no tensor");
  runtime::Tensor& tensor = (*tensors)[index];
  CHECK(tensor.elements() == parameter.elements && tensor.type() == parameter.type,
        "a kernel parameter does not fit its tensor");
  return tensor.data();
}

}  // namespace attune::api
