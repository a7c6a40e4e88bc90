// The operators that conformance tests compare with the interpreter: those of `attune check --all`
// (compiler/frontend/op_spec/small_specs.h).
#pragma once

#include <span>
#include <string>

namespace attune::test {

std::span<const char* const> operator_specs();

// As a name of a test: letters, digits and `_`.
std::string test_name(std::string spec);

}  // namespace attune::test
