#include "compiler/kernel/kernel.h"

#define ATTUNE_CODEGEN(kind)                          \
  namespace attune::kind {                            \
  extern const codegen::CodeGenerator code_generator; \
  }
#include "targets/list.inc"

namespace attune::kernel {

std::span<const codegen::CodeGenerator* const> code_generators() {
  static constexpr const codegen::CodeGenerator* all[] = {
#define ATTUNE_CODEGEN(kind) &kind::code_generator,
#include "targets/list.inc"
  };
  return all;
}

Status check_compiles(const target::Target& target) {
  for (const codegen::CodeGenerator* generator : code_generators()) {
    if (generator->kind == target.kind) return {};
  }
  return unsupported("no code is generated for targets of kind '" + target.kind + "'",
                     "choose another --target");
}

const codegen::CodeGenerator& code_generator_of(const target::Target& target) {
  for (const codegen::CodeGenerator* generator : code_generators()) {
    if (generator->kind == target.kind) return *generator;
  }
  CHECK(false, "no code is generated for targets of kind '" + target.kind + "'");
  return *code_generators().front();
}

}  // namespace attune::kernel
