#include "compiler/ir/simplify/simplify.h"

#include <gtest/gtest.h>

#include "compiler/ir/text/print.h"

namespace attune::ir {
namespace {

class Simplify : public testing::Test {
 protected:
  const Expr x = var("x"), y = var("y"), i = var("i"), j = var("j");
};

std::string shown(const Expr& e, const Ranges& ranges = {}) {
  return to_string(simplify(e, ranges));
}

TEST_F(Simplify, SumsAreCanonical) {
  EXPECT_EQ(shown(x + y + x), "x * 2 + y");
  EXPECT_EQ(shown((x + 3) * 4 - x * 4), "12");
  EXPECT_EQ(shown(3 - (y - x) * 2), "x * 2 - y * 2 + 3");
  EXPECT_EQ(shown(7 - x), "7 - x");
  EXPECT_EQ(shown(y * x - x * y), "0");
  EXPECT_EQ(shown(binary(BinOp::Shl, x, 3) + x), "x * 9");
}

TEST_F(Simplify, DivisionByIntervals) {
  const Ranges ranges{{"ob", Interval::extent(16)}, {"o1", Interval::extent(3)}};
  const Expr o0 = var("o0"), o1 = var("o1"), ob = var("ob");
  const Expr flat = (o0 * 3 + o1) * 16 + ob;
  EXPECT_EQ(shown(flat / 48, ranges), "o0");
  EXPECT_EQ(shown(flat % 48, ranges), "o1 * 16 + ob");
  EXPECT_EQ(shown(flat / 16, ranges), "o0 * 3 + o1");
  EXPECT_EQ(shown(flat % 16, ranges), "ob");
  EXPECT_EQ(shown(flat / 32, ranges), "(o0 * 3 + o1) / 2");
  EXPECT_EQ(shown(flat % 32, ranges), "(o0 + o1) % 2 * 16 + ob");
}

TEST_F(Simplify, DivisionByDivisibility) {
  const Ranges ranges{{"y", Interval::extent(8)}};
  EXPECT_EQ(shown((x * 8 + y) / 8, ranges), "x");
  EXPECT_EQ(shown((x * 8 + y) % 4, ranges), "y % 4");
  EXPECT_EQ(shown((x * 8 + y) / 16, ranges), "x / 2");
  EXPECT_EQ(shown(x / 4 / 3), "x / 12");
  EXPECT_EQ(shown((x / 4 + 2) / 3), "(x + 8) / 12");
  EXPECT_EQ(shown(x % 12 / 4), "x / 4 % 3");
  EXPECT_EQ(shown(x % 12 % 4), "x % 4");
  EXPECT_EQ(shown((x % 8 + y) % 4), "(x + y) % 4");
  EXPECT_EQ(shown((x * 6 + 4) / 4), "x * 3 / 2 + 1");
  EXPECT_EQ(shown((x - 1) / 1), "x - 1");
  EXPECT_EQ(shown(x / -4), "x * -1 / 4");
}

TEST_F(Simplify, QuotientsAndRemaindersJoin) {
  EXPECT_EQ(shown(x / 4 * 4 + x % 4), "x");
  EXPECT_EQ(shown(x / 4 * 8 + x % 4 * 2 + y), "x * 2 + y");
  EXPECT_EQ(shown(x - x / 4 * 4), "x % 4");
  EXPECT_EQ(shown(x / 12 * 3 + x / 4 % 3), "x / 4");
  EXPECT_EQ(shown((x + y) / 4 * 4 + (x + y) % 4), "x + y");
  EXPECT_EQ(shown(x / 12 * 12 + x / 4 % 3 * 4 + x % 4), "x");
}

TEST_F(Simplify, ComparisonsByIntervals) {
  const Ranges ranges{{"i", Interval::extent(4)}, {"j", Interval::extent(4)}};
  EXPECT_EQ(shown(i * 4 + j < 16, ranges), "true");
  EXPECT_EQ(shown(i * 4 + j >= 16, ranges), "false");
  EXPECT_EQ(shown(i * 4 + j < 8, ranges), "i < 2");
  EXPECT_EQ(shown(i * 4 + j < 7, ranges), "i * 4 + j < 7");
  EXPECT_EQ(shown(i * 4 + j + 1 <= i * 4 + j, ranges), "false");
  EXPECT_EQ(shown(i * 2 == 3, ranges), "false");
  EXPECT_EQ(shown(i * 2 == j * 2 + 2, ranges), "i == j + 1");
  EXPECT_EQ(shown(x >= 0), "0 <= x");
  EXPECT_EQ(shown(x <= y), "x <= y");
  EXPECT_EQ(shown(math(MathFn::Not, {x < y})), "y <= x");
  EXPECT_TRUE(prove(i + j <= 6, ranges));
  EXPECT_FALSE(prove(i + j <= 5, ranges));
}

TEST_F(Simplify, MinimaAndSelections) {
  const Ranges ranges{{"i", Interval::extent(4)}};
  EXPECT_EQ(shown(min(i, Expr(8)), ranges), "i");
  EXPECT_EQ(shown(max(i, Expr(8)), ranges), "8");
  EXPECT_EQ(shown(min(i * 4 + 4, i * 4 + x) - i * 4, ranges), "min(4, x)");
  EXPECT_EQ(shown(min(x + 1, x)), "x");
  EXPECT_EQ(shown(select(i < 4, x, y), ranges), "x");
  EXPECT_EQ(shown(select(x < 4, min(x, Expr(5)), max(x, Expr(3)))), "x");
  EXPECT_EQ(bounds_of(min(x, Expr(3)) - max(y, Expr(2)), {}), (Interval{Interval::kLowest, 1}));
}

TEST_F(Simplify, ConditionsAreFacts) {
  const Ranges loop{{"i", Interval::extent(2)}, {"j", Interval::extent(4)}};
  const Ranges ranges = loop.assume(i * 4 + j < 7);
  EXPECT_TRUE(prove(i * 4 + j < 7, ranges));
  EXPECT_TRUE(prove(i * 8 + j * 2 < 13, ranges));
  EXPECT_TRUE(prove(i * 4 + j + 1 < 8, ranges));
  EXPECT_FALSE(prove(i * 4 + j < 6, ranges));
  EXPECT_TRUE(prove(i < 2, Ranges{{"j", Interval::extent(4)}}.assume(i * 4 + j < 7)));
  EXPECT_EQ(Ranges().assume(x < 5 && x >= 2).of("x"), (Interval{2, 4}));
  EXPECT_EQ(Ranges().assume_not(x < 5 || x >= 20).of("x"), (Interval{5, 19}));
  const Expr p = var("p", kBool);
  EXPECT_EQ(shown(p && select(p, x < 1, y < 1)), "p:bool && x < 1");
}

TEST_F(Simplify, ConnectivesUseBothSides) {
  EXPECT_EQ(shown(x < 3 && x < 5), "x < 3");
  EXPECT_EQ(shown(x < 3 && x > 5), "false");
  EXPECT_EQ(shown(x < 3 || x < 2), "x < 3");
  EXPECT_EQ(shown(x < 3 || bool_imm(true)), "true");
}

TEST_F(Simplify, LoopsOfSymbolicExtent) {
  const Ranges ranges = Ranges{{"x", {0, 10}}}.with_loop("i", x * 4, min(Expr(4), 39 - x * 4));
  EXPECT_TRUE(prove(i < 39, ranges));
  EXPECT_TRUE(prove(i >= x * 4, ranges));
  EXPECT_TRUE(prove(x * 4 + min(Expr(4), 39 - x * 4) <= 39));
  EXPECT_TRUE(prove(max(x, y) >= x));
}

TEST_F(Simplify, FloatsAreExact) {
  const Expr f = var("f", kF32);
  EXPECT_EQ(shown(f * float_imm(0)), "f:f32 * 0.0f32");
  EXPECT_EQ(shown(f + float_imm(0)), "f:f32 + 0.0f32");
  EXPECT_EQ(shown(f - float_imm(0)), "f:f32");
  EXPECT_EQ(shown(float_imm(1) * f / float_imm(1)), "f:f32");
  EXPECT_EQ(shown(float_imm(0.5) + float_imm(0.25)), "0.75f32");
  EXPECT_EQ(shown(select(Expr(1) < 2, f, f * f)), "f:f32");
  EXPECT_EQ(shown(f < f), "f:f32 < f:f32");
}

TEST_F(Simplify, NarrowIntegersWrap) {
  EXPECT_EQ(shown(int_imm(100, kI8) + int_imm(100, kI8)), "-56i8");
  EXPECT_EQ(shown(cast(kU8, int_imm(-1))), "255u8");
  EXPECT_EQ(shown(var("a", kI32) * int_imm(0, kI32)), "0i32");
  EXPECT_EQ(shown(int_imm(65535, kU16) + int_imm(2, kU16)), "1u16");
  EXPECT_EQ(shown(int_imm(4, kU64) / int_imm(2, kU64)), "2u64");
  // All bits of a u64 are its largest number, which is above every other.
  EXPECT_EQ(shown(int_imm(-1, kU64) > int_imm(1, kU64)), "-1u64 > 1u64");
}

TEST_F(Simplify, Vectors) {
  const Ranges ranges{{"i", Interval::extent(16)}};
  EXPECT_EQ(shown(broadcast(x, 8) + broadcast(y, 8)), "broadcast(x + y, 8)");
  EXPECT_EQ(shown(ramp(x, 1, 8) + broadcast(y, 8)), "ramp(x + y, 1, 8)");
  EXPECT_EQ(shown(ramp(x, 1, 8) * broadcast(Expr(3), 8)), "ramp(x * 3, 3, 8)");
  EXPECT_EQ(shown(ramp(x, 1, 8) + ramp(y, 2, 8)), "ramp(x + y, 3, 8)");
  EXPECT_EQ(shown(ramp(x, 1, 8) - ramp(y, 1, 8)), "broadcast(x - y, 8)");
  EXPECT_EQ(shown(ramp(i * 8, 1, 8) / broadcast(Expr(16), 8), ranges), "broadcast(i / 2, 8)");
  EXPECT_EQ(shown(ramp(i * 8, 1, 8) % broadcast(Expr(16), 8), ranges), "ramp(i % 2 * 8, 1, 8)");
  EXPECT_EQ(shown(ramp(x, 4, 8) / broadcast(Expr(4), 8)), "ramp(x / 4, 1, 8)");
  EXPECT_EQ(shown(ramp(x, 1, 8) / broadcast(Expr(4), 8)), "ramp(x, 1, 8) / broadcast(4, 8)");
  EXPECT_EQ(shown(ramp(i * 8, 1, 8) < broadcast(Expr(128), 8), ranges), "broadcast(true, 8)");
  EXPECT_EQ(shown(ramp(i * 8, 1, 8) >= broadcast(Expr(128), 8), ranges), "broadcast(false, 8)");
  const Buffer b = make_buffer("B", kF32, {64, 64});
  EXPECT_EQ(shown(load(b, {x, broadcast(y, 4)})), "broadcast(B[x, y], 4)");
}

TEST_F(Simplify, Statements) {
  const Buffer b = make_buffer("B", kF32, {64});
  const Stmt body = store(b, {i * 4 + j}, float_imm(0));
  const auto nest = [&](std::int64_t n, std::int64_t m, const Expr& condition) {
    return for_loop("i", 0, n, for_loop("j", 0, m, if_then(condition, body)));
  };
  EXPECT_TRUE(
      equal(simplify(nest(4, 4, i * 4 + j < 16)), for_loop("i", 0, 4, for_loop("j", 0, 4, body))));
  EXPECT_TRUE(equal(simplify(nest(4, 4, i * 4 + j < 15)), nest(4, 4, i * 4 + j < 15)));
  EXPECT_TRUE(equal(simplify(nest(4, 4, i * 4 + j > 15)), block({})));
  EXPECT_TRUE(equal(simplify(nest(4, 0, i < 3)), block({})));
  EXPECT_TRUE(
      equal(simplify(nest(4, 1, i < 4)), for_loop("i", 0, 4, store(b, {i * 4}, float_imm(0)))));
  EXPECT_TRUE(equal(simplify(let("i", x + 1, let("j", Expr(3), if_then(i > x, body)))),
                    let("i", x + 1, store(b, {i * 4 + 3}, float_imm(0)))));
}

}  // namespace
}  // namespace attune::ir
