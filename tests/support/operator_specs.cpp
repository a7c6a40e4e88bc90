#include "tests/support/operator_specs.h"

#include <cctype>
#include <vector>

#include "compiler/frontend/op_spec/small_specs.h"

namespace attune::test {

std::span<const char* const> operator_specs() {
  static const std::vector<std::string> specs = op_spec::small_specs();
  static const std::vector<const char*> all = [] {
    std::vector<const char*> list;
    for (const std::string& spec : specs) list.push_back(spec.c_str());
    return list;
  }();
  return all;
}

std::string test_name(std::string spec) {
  for (char& c : spec) c = std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '_';
  return spec;
}

}  // namespace attune::test
