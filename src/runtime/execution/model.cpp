#include "runtime/execution/model.h"

#include <utility>

namespace attune::runtime {

Model::Model(std::unique_ptr<State> state) : state_(std::move(state)) {}
Model::~Model() = default;

const Plan& Model::plan() const { return state_->artifact.plan(); }
const Artifact& Model::artifact() const { return state_->artifact; }

Result<std::shared_ptr<const Model>> Model::load(const std::string& path, DeviceKinds kinds,
                                                 const VerifyBytes& verify) {
  ATTUNE_ASSIGN(Artifact artifact, Artifact::open(path, kinds, verify));
  ATTUNE_ASSIGN(std::shared_ptr<const Model> model, from(std::move(artifact)));
  ATTUNE_RETURN_IF_ERROR(model->state().make_ready());
  return model;
}

Status Model::State::make_ready() {
  const std::lock_guard lock(mutex);
  if (ready) return {};
  code.clear();
  kernels.clear();
  ATTUNE_RETURN_IF_ERROR(load_kernels());
  if (artifact.plan().kernel_space == Space::Device) ATTUNE_RETURN_IF_ERROR(load_weights());
  ready = true;
  return {};
}

Status Model::State::load_kernels() {
  for (const std::span<const std::byte> object : artifact.objects()) {
    ATTUNE_ASSIGN(auto loaded, device->load(object));
    code.push_back(std::move(loaded));
  }
  for (const Kernel& kernel : artifact.plan().kernels) {
    ATTUNE_ASSIGN(const KernelHandle handle,
                  code[static_cast<std::size_t>(kernel.object)]->kernel(kernel.symbol));
    kernels.push_back(handle);
  }
  return {};
}

// Those that kernels read, at the places that they have in the artifact.
Status Model::State::load_weights() {
  ATTUNE_RETURN_IF_ERROR(artifact.check_unchanged());
  const std::span<const std::byte> host = artifact.weights();
  ATTUNE_ASSIGN(weights, device->allocate(host.size()));
  ATTUNE_ASSIGN(const auto stream, device->open_stream({}));
  for (const Buffer& buffer : artifact.plan().buffers) {
    if (buffer.place != Place::Constant || buffer.space != Space::Device) continue;
    if (buffer.bytes == 0) continue;
    ATTUNE_RETURN_IF_ERROR(artifact.verify_weights(buffer.position, buffer.bytes));
    auto* from = const_cast<std::byte*>(host.data()) + buffer.position;
    ATTUNE_RETURN_IF_ERROR(stream->copy({Space::Device, weights->address() + buffer.position},
                                        {Space::Host, from},
                                        static_cast<std::size_t>(buffer.bytes)));
  }
  return stream->wait();
}

Result<std::shared_ptr<const Model>> Model::from(Artifact artifact) {
  std::unique_ptr<State> state(new State{std::move(artifact), {}, {}, {}, {}});
  const Plan& plan = state->artifact.plan();
  ATTUNE_ASSIGN(state->device, state->artifact.device().open(plan.target));
  if (state->device->space() != plan.kernel_space) {
    return Error{ErrorCode::Corrupt,
                 "the plan keeps what kernels use in memory that the device '" + plan.device +
                     "' does not work in",
                 "compile the model again"};
  }
  if (plan.kernel_space == Space::Host) ATTUNE_RETURN_IF_ERROR(state->make_ready());
  return std::shared_ptr<const Model>(new Model(std::move(state)));
}

}  // namespace attune::runtime
