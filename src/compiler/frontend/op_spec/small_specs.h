// Small operators of every family, for tests and for who wants to see that they compute what they
// should.
#pragma once

#include <string>
#include <vector>

namespace attune::op_spec {

// Those written down, on sizes that divide little, and one of each family that is not among them.
std::vector<std::string> small_specs();

}  // namespace attune::op_spec
