// How operators are reached by name: a family has a name, the keys of its options with their
// defaults, and a function that builds the operator from values for them. families() is the one
// list; a new operator is its own file and one line there.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "compiler/ops/operator.h"

namespace attune::ops {

enum class KeyKind : std::uint8_t { Number, Word };

struct Key {
  std::string name;
  KeyKind kind = KeyKind::Number;
  // The value when none is given; "" = must be given, "=K" and "=K/2": that of key K, or half of
  // it.
  std::string fallback = {};
  std::vector<std::string> words = {};  // the words that are accepted, all when empty
};

// Values for all keys of a family, and what an operator needs to know of its target.
struct Arguments {
  std::map<std::string, std::int64_t, std::less<>> numbers;
  std::map<std::string, std::string, std::less<>> words;
  ir::DType dtype = ir::kF32;
  std::int64_t block = 8;  // channels in a block of an activation

  std::int64_t number(std::string_view key) const;
  const std::string& word(std::string_view key) const;
};

struct Family {
  std::string name;
  std::vector<Key> keys;  // without `dtype`, which all have
  Result<Operator> (*build)(const Arguments& arguments);
};

std::span<const Family> families();

}  // namespace attune::ops
