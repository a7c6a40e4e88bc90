#include "app/verbs/version_text.h"

#include <fmt/format.h>

#include "base/version.h"
#include "compiler/kernel/kernel.h"

namespace attune::verbs {

std::string version_text() {
  // That of the default target.
  const codegen::CodeGenerator& generator = kernel::code_generator_of(target::Target{});
  return fmt::format("{} ({} {})", version(), generator.compiler, generator.version());
}

}  // namespace attune::verbs
