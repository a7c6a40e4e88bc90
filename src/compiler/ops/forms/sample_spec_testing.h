// A spec of any family, made of its keys alone, so that tests hold for families that they do not
// name.
#pragma once

#include <array>
#include <string>

#include "base/check.h"
#include "compiler/ops/forms/family.h"

namespace attune::ops {

// Keys that must be given get numbers that fall, so that a window, which stands behind what it
// moves over, fits; divide nothing; and differ. Words get the first that is accepted.
inline std::string sample_spec(const Family& family) {
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
