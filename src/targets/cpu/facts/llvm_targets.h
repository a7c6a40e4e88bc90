// LLVM as the source of facts about processors: its targets, and its version.
#pragma once

#include <string>

namespace attune::cpu {

// Makes LLVM's targets known; cheap after the first call.
void initialize_llvm();

// "19.1.7"
std::string llvm_version();

}  // namespace attune::cpu
