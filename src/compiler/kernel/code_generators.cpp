#include "compiler/kernel/kernel.h"

#define ATTUNE_CODEGEN(kind)                          \
  namespace attune::kind {                            \
  extern const codegen::CodeGenerator code_generator; \
  }
#include "targets/list.inc"

namespace attune::kernel {

const codegen::CodeGenerator& code_generator_of(const target::Target& target) {
  static constexpr const codegen::CodeGenerator* all[] = {
#define ATTUNE_CODEGEN(kind) &kind::code_generator,
#include "targets/list.inc"
  };
  for (const codegen::CodeGenerator* generator : all) {
    if (generator->kind == target.kind) return *generator;
  }
  CHECK(false, "no code is generated for targets of kind '" + target.kind + "'");
  return *all[0];
}

}  // namespace attune::kernel
