// The last step: an object file in memory becomes a shared object in memory, by lld in process.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "base/result.h"

namespace attune::codegen {

// Fails when the object refers to anything outside of itself.
Result<std::vector<std::byte>> link_shared(std::span<const char> object);

}  // namespace attune::codegen
