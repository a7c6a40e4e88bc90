#include <llvm/Config/llvm-config.h>

#include "compiler/codegen/codegen.h"

namespace attune::codegen {

std::string llvm_version() { return LLVM_VERSION_STRING; }

}  // namespace attune::codegen
