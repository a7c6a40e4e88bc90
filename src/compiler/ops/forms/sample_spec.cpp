#include "compiler/ops/forms/sample_spec.h"

#include <array>

#include "base/check.h"

namespace attune::ops {

std::string sample_spec(const Family& family) {
  constexpr std::array kSizes{19, 17, 13, 11, 7, 5, 3};
  std::string text = family.name;
  char separator = ':';
  std::size_t next = 0;
  for (const Key& key : family.keys) {
    if (!key.fallback.empty()) continue;
    const bool number = key.kind == KeyKind::Number;
    CHECK(number ? next < kSizes.size() : !key.words.empty(),
          "a sample of '" + family.name + "' must be written by hand");
    text += separator + key.name + "=" + (number ? std::to_string(kSizes[next++]) : key.words[0]);
    separator = ',';
  }
  return text;
}

}  // namespace attune::ops
