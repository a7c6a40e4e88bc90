// Whether loading a shared object runs nothing of it: artifacts come from elsewhere, and their code
// must wait until it is called.
#pragma once

#include <cstddef>
#include <span>

#include "base/result.h"

namespace attune::cpu {

// Refuses what check_shared_object refuses, and objects with initialisers, finalisers, functions
// that the loader calls to resolve symbols, or a need for other libraries.
Status check_inert_object(std::span<const std::byte> bytes);

}  // namespace attune::cpu
