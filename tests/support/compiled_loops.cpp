#include "tests/support/compiled_loops.h"

#include "compiler/kernel/kernel.h"

namespace attune::test {

Result<codegen::Module> compile_loops(const ir::Kernel& loops, const target::Target& target) {
  ATTUNE_ASSIGN(const kernel::Kernel compiled, kernel::compile({loops, {}}, target));
  codegen::Module module{.kernels = {compiled.object.entry}};
  ATTUNE_ASSIGN(module.code, kernel::link({&compiled.object, 1}, target));
  return module;
}

}  // namespace attune::test
