#include "compiler/ops/forms/family.h"

#include "base/check.h"

namespace attune::ops {

#define ATTUNE_SPEC(name) Family name##_family();
#include "compiler/ops/list.inc"

std::int64_t Arguments::number(std::string_view key) const {
  const auto found = numbers.find(key);
  CHECK(found != numbers.end(), "a value for key " + std::string(key));
  return found->second;
}

const std::string& Arguments::word(std::string_view key) const {
  const auto found = words.find(key);
  CHECK(found != words.end(), "a value for key " + std::string(key));
  return found->second;
}

std::span<const Family> families() {
  static const std::vector<Family> all{
#define ATTUNE_SPEC(name) name##_family(),
#include "compiler/ops/list.inc"
  };
  return all;
}

}  // namespace attune::ops
