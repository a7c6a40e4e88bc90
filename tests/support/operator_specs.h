// The operators that conformance tests compare with the interpreter, on sizes that divide nothing.
#pragma once

#include <span>

namespace attune::test {

std::span<const char* const> operator_specs();

}  // namespace attune::test
