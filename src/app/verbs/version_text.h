// Which Attune this is, and with which parts.
#pragma once

#include <string>

namespace attune::verbs {

// "0.1.0 (LLVM 19.1.7)"
std::string version_text();

}  // namespace attune::verbs
