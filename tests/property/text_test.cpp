// What is printed reads back as the same: random expressions and statements with every kind of
// node.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "base/hash.h"
#include "compiler/ir/text/parse.h"
#include "compiler/ir/text/print.h"
#include "tests/support/random/random_ir.h"

namespace attune::test {
namespace {

using namespace ir;

void check_expressions(std::uint64_t seed) {
  static constexpr DType types[] = {kF32, kI64, kBool, kF16, kI32, kU8, kF64, kBF16};
  RandomIr random(seed);
  const DType type = types[seed % 8].with_lanes(seed & 8 ? 4 : 1);
  const Expr e = random.anything(type, 1 + static_cast<int>(seed / 16 % 5));
  const std::string text = to_string(e);
  const auto back = parse_expr(text, random.buffers());
  if (!back.ok()) RC_FAIL(text + "\n" + back.error().message);
  if (!equal(*back, e)) RC_FAIL(text + "\nread back as " + to_string(*back));
}

void check_statements(std::uint64_t seed) {
  RandomIr random(seed);
  const Stmt s = random.any_stmt(1 + static_cast<int>(seed % 4));
  const std::string text = to_string(s);
  const auto back = parse_stmt(text, random.buffers());
  if (!back.ok()) RC_FAIL(text + "\n" + back.error().message);
  // Allocated buffers are new ones, so that texts are compared.
  if (to_string(*back) != text) RC_FAIL(text + "\nread back as\n" + to_string(*back));
}

// Damaged text never does worse than an error.
void check_damaged_text(std::uint64_t seed) {
  RandomIr random(seed);
  std::string text = to_string(random.any_stmt(2));
  for (int i = 0; i < 3; ++i) {
    const std::size_t at = random.rng().below(text.size());
    static constexpr std::string_view characters = "(){}[]<>,:=+-*'\\@0x.e \n";
    if (random.rng().chance(0.5)) {
      text[at] = characters[random.rng().below(characters.size())];
    } else {
      text.erase(at, 1 + random.rng().below(4));
    }
    if (text.empty()) return;
  }
  const auto back = parse_stmt(text, random.buffers());
  if (!back.ok()) RC_ASSERT(back.error().message.starts_with("line "));
}

// A case runs many seeds: rapidcheck counts cases in hundreds.
template <typename Check>
void for_many(std::uint64_t seed, Check check) {
  for (std::uint64_t i = 0; i < 50; ++i) check(hash_combine(seed, i));
}

RC_GTEST_PROP(Text, ExpressionsReadBack, (std::uint64_t seed)) {
  for_many(seed, check_expressions);
}
RC_GTEST_PROP(Text, StatementsReadBack, (std::uint64_t seed)) { for_many(seed, check_statements); }
RC_GTEST_PROP(Text, DamagedTextIsRefused, (std::uint64_t seed)) {
  for_many(seed, check_damaged_text);
}

}  // namespace
}  // namespace attune::test
