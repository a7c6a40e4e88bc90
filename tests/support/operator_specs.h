// The operators that conformance tests compare with the interpreter, on sizes that divide nothing:
// those written down, and one of each family that is not among them.
#pragma once

#include <span>
#include <string>

namespace attune::test {

std::span<const char* const> operator_specs();

// As a name of a test: letters, digits and `_`.
std::string test_name(std::string spec);

}  // namespace attune::test
