// Which Attune this is.
#pragma once

#include <string>

namespace attune {

// "0.1.0"
std::string version();

}  // namespace attune
