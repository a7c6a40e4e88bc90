// How operators are reached by name: a family has a name, the keys of its options with their
// defaults, the operator with values for them, and the nodes of a graph that this is. families()
// lists them all; a new one is its own file and one line in list.inc.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "compiler/ops/op_def.h"
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

// An input or constant of a spec.
struct SpecOperand {
  std::string name;
  std::vector<std::int64_t> shape;
  bool constant = false;
  bool blocked = false;  // lies in blocks of channels
};

// A node takes the result of the node before it, if there is one, then operands of its own, then
// numbers that are part of the operator.
struct SpecNode {
  std::string op;  // of graphs
  std::vector<SpecOperand> operands = {};
  Attributes attributes = {};
  std::vector<double> numbers = {};
  std::size_t result_at = 0;  // where the result stands among the operands
};

// What a spec stands for in a graph.
struct SpecGraph {
  std::vector<SpecNode> nodes;
  bool blocked = false;  // so is the output
};

struct Family {
  std::string name;
  std::vector<Key> keys;  // without `dtype`, which all have
  Result<Operator> (*build)(const Arguments& arguments);
  SpecGraph (*graph)(const Arguments& arguments);  // of values that `build` accepts
};

std::span<const Family> families();

}  // namespace attune::ops
