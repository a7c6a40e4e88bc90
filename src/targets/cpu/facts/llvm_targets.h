// LLVM as the source of facts about processors: its targets, and its version.
#pragma once

#include <string>

namespace attune::cpu {

// Makes the code generators that are in use known to LLVM; cheap after the first call. A package
// carries these and no others (scripts/package).
void initialize_llvm();

// "19.1.7"
std::string llvm_version();

}  // namespace attune::cpu
