#include "runtime/model.h"

#include <utility>

namespace attune::runtime {

Model::Model(std::unique_ptr<State> state) : state_(std::move(state)) {}
Model::~Model() = default;

const Plan& Model::plan() const { return state_->artifact.plan(); }
const Artifact& Model::artifact() const { return state_->artifact; }

Result<std::shared_ptr<const Model>> Model::load(const std::string& path) {
  ATTUNE_ASSIGN(Artifact artifact, Artifact::open(path));
  return from(std::move(artifact));
}

Result<std::shared_ptr<const Model>> Model::from(Artifact artifact) {
  auto state = std::make_unique<State>(State{std::move(artifact), {}, {}});
  for (const std::span<const std::byte> object : state->artifact.objects()) {
    ATTUNE_ASSIGN(KernelModule module, KernelModule::load(object));
    state->modules.push_back(std::move(module));
  }
  for (const Kernel& kernel : state->artifact.plan().kernels) {
    const KernelModule& module = state->modules[static_cast<std::size_t>(kernel.object)];
    ATTUNE_ASSIGN(const AttuneKernel function, module.kernel(kernel.symbol));
    state->kernels.push_back(function);
  }
  return std::shared_ptr<const Model>(new Model(std::move(state)));
}

}  // namespace attune::runtime
