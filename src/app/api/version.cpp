#include "app/api/version.h"

#include <fmt/format.h>

#include "compiler/codegen/codegen.h"

namespace attune::api {

std::string version() { return ATTUNE_VERSION; }

std::string version_text() {
  return fmt::format("{} (LLVM {})", version(), codegen::llvm_version());
}

}  // namespace attune::api
