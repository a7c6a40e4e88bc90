#include "compiler/ir/interpret/interpret.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace attune::ir {
namespace {

Array filled(DType type, std::vector<std::int64_t> shape, double (*f)(std::int64_t)) {
  Array array(type, std::move(shape));
  for (std::int64_t i = 0; i < array.count(); ++i) array.set_real(i, f(i));
  return array;
}

class Interpret : public testing::Test {
 protected:
  Program matmul(std::int64_t m, std::int64_t n, std::int64_t depth) const;
  Kernel reverse(Stmt between) const;

  const Expr i = var("i"), j = var("j"), k = var("k");
};

Program Interpret::matmul(std::int64_t m, std::int64_t n, std::int64_t depth) const {
  Program p{"matmul", {}, {}, {}};
  const Buffer a = add_input(p, "A", kF32, {m, depth});
  const Buffer b = add_input(p, "B", kF32, {depth, n}, true);
  const Buffer c = add_reduce(p, "anchor", {{"i", m}, {"j", n}}, {{"k", depth}}, Reduction::Sum,
                              load(a, {i, k}) * load(b, {k, j}));
  p.outputs = {add_compute(p, "relu", {{"i", m}, {"j", n}}, max(load(c, {i, j}), float_imm(0)))};
  return p;
}

TEST_F(Interpret, ProgramWithReduction) {
  const Program p = matmul(3, 4, 5);
  const Array a = filled(kF32, {3, 5}, [](std::int64_t x) { return double(x % 7) - 3; });
  const Array b = filled(kF32, {5, 4}, [](std::int64_t x) { return double(x % 5) - 1; });
  const auto result = interpret(p, {a, b});
  ASSERT_TRUE(result.ok()) << result.error().message;
  for (int r = 0; r < 3; ++r) {
    for (int c = 0; c < 4; ++c) {
      double sum = 0;
      for (int d = 0; d < 5; ++d) sum += a.real(r * 5 + d) * b.real(d * 4 + c);
      EXPECT_EQ((*result)[0].real(r * 4 + c), std::max(sum, 0.0));
      const auto sampled = interpret_at(p, {a, b}, 0, {{r, c}});
      ASSERT_TRUE(sampled.ok());
      EXPECT_EQ((*sampled)[0], std::max(sum, 0.0));
    }
  }
}

TEST_F(Interpret, SumsRoundInTheDeclaredType) {
  Program p{"sum", {}, {}, {}};
  const Buffer a = add_input(p, "A", kF32, {3});
  p.outputs = {add_reduce(p, "s", {}, {{"k", 3}}, Reduction::Sum, load(a, {k}))};
  Array input(kF32, {3});
  input.set_real(0, 16777216);
  input.set_real(1, 1);
  input.set_real(2, 1);
  EXPECT_EQ((*interpret(p, {input}))[0].real(0), 16777216.0);
}

TEST_F(Interpret, ArgMaxTakesTheFirstOfEquals) {
  Program p{"argmax", {}, {}, {}};
  const Buffer a = add_input(p, "A", kF32, {4});
  p.outputs = add_arg_reduce(p, "best", {}, {{"k", 4}}, Reduction::ArgMax, load(a, {k}), k);
  Array input(kF32, {4});
  input.set_real(0, -3), input.set_real(1, 5), input.set_real(2, 5), input.set_real(3, 1);
  const auto result = interpret(p, {input});
  ASSERT_TRUE(result.ok());
  EXPECT_EQ((*result)[0].real(0), 5.0);
  EXPECT_EQ((*result)[1].integer(0), 1);
}

TEST_F(Interpret, SelectGuardsLoads) {
  Program p{"pad", {}, {}, {}};
  const Buffer a = add_input(p, "A", kF32, {2});
  const Expr guarded = select(i >= 1 && i < 3, load(a, {i - 1}), float_imm(0));
  p.outputs = {add_compute(p, "padded", {{"i", 4}}, guarded)};
  const auto result = interpret(p, {filled(kF32, {2}, [](std::int64_t x) { return x + 1.0; })});
  ASSERT_TRUE(result.ok()) << result.error().message;
  EXPECT_EQ((*result)[0].real(0), 0.0);
  EXPECT_EQ((*result)[0].real(2), 2.0);
}

TEST_F(Interpret, InputsMustFit) {
  const auto result = interpret(matmul(2, 2, 2), {Array(kF32, {2, 2}), Array(kF32, {2, 3})});
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().message, "input 'B' is f32[2, 2], f32[2, 3] was given");
}

TEST_F(Interpret, KernelReportsBadAccesses) {
  const Buffer b = make_buffer("B", kF32, {4, 8});
  const Buffer t = make_buffer("T", kF32, {2}, Scope::Stack);
  std::vector<Array> arrays{Array(kF32, {4, 8})};
  const Kernel outside{"k", {b}, for_loop("i", 0, 5, store(b, {i, 7}, float_imm(1))), 0};
  EXPECT_EQ(interpret(outside, arrays).error().message,
            "store of 'B' at [4, 7], shape [4, 8], is out of bounds");
  const Kernel unwritten{"k", {b}, allocate(t, store(b, {0, 0}, load(t, {1}))), 0};
  EXPECT_EQ(interpret(unwritten, arrays).error().message,
            "load of 'T' at [1], shape [2], reads an element that was never written");
  const Kernel output{"k", {b}, store(b, {0, 0}, load(b, {0, 1})), 0};
  EXPECT_TRUE(interpret(output, arrays).ok());
  EXPECT_FALSE(interpret(output, arrays, 0).ok());
  const Kernel zero{"k", {b}, for_loop("i", 0, 1, store(b, {Expr(1) / i, 0}, float_imm(1))), 0};
  EXPECT_EQ(interpret(zero, arrays).error().message, "division by zero in '1 / i'");
}

TEST_F(Interpret, Vectors) {
  const Buffer b = make_buffer("B", kF32, {8});
  std::vector<Array> arrays{filled(kF32, {8}, [](std::int64_t x) { return double(x); })};
  // All lanes are read before any is written.
  const Kernel shift{
      "k",
      {b},
      store(b, {ramp(1, 1, 4)}, load(b, {ramp(0, 1, 4)}) * broadcast(float_imm(2), 4)),
      0};
  ASSERT_TRUE(interpret(shift, arrays).ok());
  EXPECT_EQ(arrays[0].real(1), 0.0);
  EXPECT_EQ(arrays[0].real(2), 2.0);
  EXPECT_EQ(arrays[0].real(4), 6.0);
  const Kernel sum{"k", {b}, store(b, {0}, vector_reduce(BinOp::Add, load(b, {ramp(4, 1, 4)}))), 0};
  ASSERT_TRUE(interpret(sum, arrays).ok());
  EXPECT_EQ(arrays[0].real(0), 6.0 + 5 + 6 + 7);
}

Stmt bound(std::string name, std::int64_t extent, std::string axis, Stmt body) {
  return make_stmt(
      For{std::move(name), 0, extent, LoopKind::Bound, std::move(axis), {}, std::move(body)});
}

// Reverses 8 elements per block through shared memory.
Kernel Interpret::reverse(Stmt between) const {
  const Buffer a = make_buffer("A", kF32, {2, 8}), b = make_buffer("B", kF32, {2, 8});
  const Buffer s = make_buffer("S", kF32, {8}, Scope::Shared);
  const Stmt body = block(
      {store(s, {j}, load(a, {i, j})), std::move(between), store(b, {i, j}, load(s, {7 - j}))});
  return {
      "reverse", {a, b}, bound("i", 2, "block.x", allocate(s, bound("j", 8, "thread.x", body))), 0};
}

TEST_F(Interpret, ThreadsMeetAtBarriers) {
  std::vector<Array> arrays{filled(kF32, {2, 8}, [](std::int64_t x) { return double(x); }),
                            Array(kF32, {2, 8})};
  const Status status = interpret(reverse(make_stmt(Barrier{Scope::Shared})), arrays, 1);
  ASSERT_TRUE(status.ok()) << status.error().message;
  for (int x = 0; x < 8; ++x) EXPECT_EQ(arrays[1].real(8 + x), 15 - x);
  EXPECT_FALSE(interpret(reverse({}), arrays, 1).ok());
  const Stmt divergent = if_then(j < 3, make_stmt(Barrier{Scope::Shared}));
  EXPECT_EQ(interpret(reverse(divergent), arrays, 1).error().message,
            "thread (3, 0, 0) of block (0, 0, 0) does not reach a barrier that thread (0, 0, 0) of "
            "block (0, 0, 0) waits at");
}

TEST_F(Interpret, IntrinsicsFollowTheirDeclaration) {
  const Buffer b = make_buffer("B", kI64, {1});
  std::vector<Array> arrays{Array(kI64, {1})};
  const Kernel k1{"k",
                  {b},
                  block({evaluate(opaque("launder", kI32, {})),
                         evaluate(opaque("prefetch", kI32, {load(b, {1000}), 3})),
                         store(b, {0}, opaque("worker", kI64, {}) + 7)}),
                  0};
  ASSERT_TRUE(interpret(k1, arrays).ok());
  EXPECT_EQ(arrays[0].integer(0), 7);
  const Kernel k2{"k", {b}, evaluate(opaque("magic", kI32, {})), 0};
  EXPECT_EQ(interpret(k2, arrays).error().message, "intrinsic 'magic' is not declared");
}

double evaluate_f32(const Expr& e) {
  const Buffer b = make_buffer("B", e.type(), {1});
  std::vector<Array> arrays{Array(e.type(), {1})};
  const Status status = interpret(Kernel{"k", {b}, store(b, {0}, e), 0}, arrays);
  EXPECT_TRUE(status.ok());
  return arrays[0].real(0);
}

TEST_F(Interpret, CastsTruncateAndSaturate) {
  EXPECT_EQ(evaluate_f32(cast(kI8, float_imm(-3.9))), -3);
  EXPECT_EQ(evaluate_f32(cast(kI8, float_imm(300))), 127);
  EXPECT_EQ(evaluate_f32(cast(kU8, float_imm(-5))), 0);
  EXPECT_EQ(evaluate_f32(cast(kI32, float_imm(std::nan("")))), 0);
  EXPECT_EQ(evaluate_f32(cast(kI64, float_imm(1e30))), 9223372036854775807.0);
  EXPECT_EQ(evaluate_f32(cast(kI8, int_imm(200))), -56);
  EXPECT_EQ(evaluate_f32(bitcast(kI32, float_imm(1))), 0x3f800000);
  EXPECT_EQ(evaluate_f32(math(MathFn::Round, {float_imm(2.5)})), 2);
  EXPECT_EQ(evaluate_f32(int_imm(-7, kI32) / int_imm(2, kI32)), -4);
  EXPECT_EQ(evaluate_f32(int_imm(100, kI8) + int_imm(100, kI8)), -56);
}

TEST(Array, HalfFloatsRoundToNearestEven) {
  for (int bits = 0; bits < 65536; ++bits) {
    const auto b = static_cast<std::uint16_t>(bits);
    const double f16 = f16_value(b), bf16 = bf16_value(b);
    ASSERT_TRUE(std::isnan(f16) || f16_bits(f16) == b) << bits;
    ASSERT_TRUE(std::isnan(bf16) || bf16_bits(bf16) == b) << bits;
  }
  EXPECT_EQ(f16_bits(1.0), 0x3c00);
  EXPECT_EQ(f16_bits(65519.9), 0x7bff);
  EXPECT_EQ(f16_bits(65520.0), 0x7c00);
  EXPECT_EQ(f16_bits(std::ldexp(1.0, -25)), 0);
  EXPECT_EQ(f16_bits(std::ldexp(1.5, -25)), 1);
  EXPECT_EQ(f16_value(f16_bits(2049)), 2048);
  EXPECT_EQ(f16_value(f16_bits(2051)), 2052);
  EXPECT_EQ(bf16_bits(1.0), 0x3f80);
  EXPECT_EQ(bf16_value(bf16_bits(1.00390625)), 1.0);
  EXPECT_EQ(bf16_value(bf16_bits(1.01171875)), 1.015625);
  EXPECT_TRUE(std::isnan(f16_value(f16_bits(std::nan("")))));
}

}  // namespace
}  // namespace attune::ir
