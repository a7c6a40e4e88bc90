// The last step: object files in memory become one shared object in memory, by lld in process.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "base/result.h"

namespace attune::cpu {

// Fails when the objects refer to anything outside of themselves.
Result<std::vector<std::byte>> link_shared(std::span<const std::span<const char>> objects);

}  // namespace attune::cpu
