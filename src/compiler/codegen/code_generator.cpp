#include "compiler/codegen/code_generator.h"

#include "base/clock.h"

namespace attune::codegen {

Result<Module> compile_module(const CodeGenerator& generator, std::span<const ir::Kernel> kernels,
                              const target::Target& target) {
  Module module;
  std::vector<KernelObject> objects;
  for (const ir::Kernel& kernel : kernels) {
    ATTUNE_ASSIGN(KernelObject object, generator.compile(kernel, target));
    module.kernels.push_back(object.entry);
    module.compile_ms += object.compile_ms;
    objects.push_back(std::move(object));
  }
  const SteadyClock clock;
  const std::int64_t start = clock.now_ns();
  ATTUNE_ASSIGN(module.code, generator.link(objects));
  module.link_ms = seconds_between(start, clock.now_ns()) * 1e3;
  return module;
}

}  // namespace attune::codegen
