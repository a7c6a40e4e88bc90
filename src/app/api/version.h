// Which Attune this is.
#pragma once

#include <string>

namespace attune::api {

// "0.1.0"
std::string version();
// With the parts it was built with: "0.1.0 (LLVM 19.1.7)".
std::string version_text();

}  // namespace attune::api
