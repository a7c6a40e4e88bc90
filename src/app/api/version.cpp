#include "app/api/version.h"

#include <fmt/format.h>

#include "compiler/kernel/kernel.h"

namespace attune::api {

std::string version() { return ATTUNE_VERSION; }

std::string version_text() {
  const codegen::CodeGenerator& generator = kernel::code_generator_of({});
  return fmt::format("{} ({} {})", version(), generator.compiler, generator.version());
}

}  // namespace attune::api
