// Programs in text whose accesses no operator has: stencils in chains, several readers, several
// outputs, reversed and divided indices, pairs, conditions on data.
#pragma once

#include <span>

namespace attune::test {

std::span<const char* const> own_programs();

}  // namespace attune::test
