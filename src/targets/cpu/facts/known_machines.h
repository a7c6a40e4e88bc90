// How fast processors are that are compiled for from another machine, by LLVM's CPU names.
#pragma once

#include <string_view>

#include "compiler/target/machine.h"

namespace attune::cpu {

// `architecture` as a triple begins. Of names that are not in the table, a usual core of the
// architecture.
target::Machine known_machine(std::string_view architecture, std::string_view cpu);

}  // namespace attune::cpu
