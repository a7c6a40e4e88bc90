#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>

#include "targets/cpu/codegen/compiled_kernel_testing.h"

namespace attune::cpu {
namespace {

using ir::BinOp;
using ir::DType;
using ir::Expr;

template <typename T>
void expect_floor_division(DType type, int lanes, Expr divisor_of_type, T divisor) {
  const std::int64_t n = 64;
  Array<T> x(n), q(n), r(n);
  for (int i = 0; i < n; ++i) x[i] = static_cast<T>((i - 32) * 5 + i % 3);
  const auto with = [&](BinOp op) {
    return elementwise(type, type, n, lanes, [&](Expr v) {
      return ir::binary(op, v,
                        lanes == 1 ? divisor_of_type : ir::broadcast(divisor_of_type, lanes));
    });
  };
  LoadedKernel(with(BinOp::Div)).run({x.data(), q.data()});
  LoadedKernel(with(BinOp::Mod)).run({x.data(), r.data()});
  for (int i = 0; i < n; ++i) {
    ASSERT_EQ(q[i], static_cast<T>(ir::floor_div(x[i], divisor))) << +x[i] << " / " << +divisor;
    ASSERT_EQ(r[i], static_cast<T>(ir::floor_mod(x[i], divisor))) << +x[i] << " % " << +divisor;
  }
}

TEST(Arithmetic, DivisionRoundsDown) {
  for (const int divisor : {1, 2, 3, 7, 8, 64, -1, -2, -3, -8}) {
    for (const int lanes : {1, 8}) {
      expect_floor_division<std::int32_t>(ir::kI32, lanes, ir::int_imm(divisor, ir::kI32), divisor);
      expect_floor_division<std::int64_t>(ir::kI64, lanes, Expr(divisor), divisor);
    }
  }
}

TEST(Arithmetic, DivisionByValues) {
  const std::int64_t n = 15 * 15;
  const auto a = ir::make_buffer("a", ir::kI32, {n}), b = ir::make_buffer("b", ir::kI32, {n}),
             q = ir::make_buffer("q", ir::kI32, {n}), r = ir::make_buffer("r", ir::kI32, {n});
  const Expr i = ir::var("i"), x = ir::load(a, {i}), y = ir::load(b, {i});
  LoadedKernel kernel(
      {"division",
       {a, b, q, r},
       ir::for_loop("i", 0, n, ir::block({ir::store(q, {i}, x / y), ir::store(r, {i}, x % y)}))});
  Array<std::int32_t> p(n), d(n), quotient(n), remainder(n);
  for (int u = 0; u < n; ++u) p[u] = u / 15 - 7, d[u] = u % 15 - 7;
  // No trap for these two, whatever the result of the first.
  p[0] = 5, d[0] = 0;
  p[1] = std::numeric_limits<std::int32_t>::min(), d[1] = -1;
  kernel.run({p.data(), d.data(), quotient.data(), remainder.data()});
  for (int u = 2; u < n; ++u) {
    if (d[u] == 0) continue;
    EXPECT_EQ(quotient[u], ir::floor_div(p[u], d[u])) << p[u] << " / " << d[u];
    EXPECT_EQ(remainder[u], ir::floor_mod(p[u], d[u])) << p[u] << " % " << d[u];
  }
}

TEST(Arithmetic, IndexDivisionOfLoopVariables) {
  // (i - 5) / 3 and % 3 as values; i / 7 * 7 + i % 7 as an index.
  const std::int64_t n = 42;
  const auto y = ir::make_buffer("y", ir::kI64, {n});
  const Expr i = ir::var("i"), shifted = i - Expr(5);
  const Expr value = shifted / Expr(3) * Expr(100) + shifted % Expr(3);
  LoadedKernel kernel(
      {"index",
       {y},
       ir::for_loop("i", 0, n, ir::store(y, {i / Expr(7) * Expr(7) + i % Expr(7)}, value))});
  Array<std::int64_t> out(n);
  kernel.run({out.data()});
  for (int u = 0; u < n; ++u) {
    EXPECT_EQ(out[u], ir::floor_div(u - 5, 3) * 100 + ir::floor_mod(u - 5, 3));
  }
}

TEST(Arithmetic, FusesMultiplyAndAdd) {
  const std::int64_t n = 16;
  const auto a = ir::make_buffer("a", ir::kF32, {n}), b = ir::make_buffer("b", ir::kF32, {n}),
             c = ir::make_buffer("c", ir::kF32, {n}), y = ir::make_buffer("y", ir::kF32, {4 * n});
  const Expr i = ir::var("i"), p = ir::load(a, {i}), q = ir::load(b, {i}), s = ir::load(c, {i});
  const Expr forms[] = {p * q + s, s + p * q, p * q - s, s - p * q};
  std::vector<ir::Stmt> stores;
  for (int k = 0; k < 4; ++k) stores.push_back(ir::store(y, {i + Expr(k * n)}, forms[k]));
  const target::Target target = host_target();
  LoadedKernel kernel({"fused", {a, b, c, y}, ir::for_loop("i", 0, n, ir::block(stores))}, target);
  Array<float> u(n), v(n), w(n), out(4 * n);
  for (int k = 0; k < n; ++k) u[k] = 1 + 1e-4f * k, v[k] = 1 - 1e-4f * k, w[k] = -1 + 1e-6f * k;
  kernel.run({u.data(), v.data(), w.data(), out.data()});
  for (int k = 0; k < n; ++k) {
    const float plus = target.fma ? std::fma(u[k], v[k], w[k]) : u[k] * v[k] + w[k];
    const float minus = target.fma ? std::fma(u[k], v[k], -w[k]) : u[k] * v[k] - w[k];
    EXPECT_EQ(out[k], plus);
    EXPECT_EQ(out[n + k], plus);
    EXPECT_EQ(out[2 * n + k], minus);
    EXPECT_EQ(out[3 * n + k], -minus);
  }
}

TEST(Arithmetic, ReducesLanes) {
  for (const int lanes : {2, 3, 8, 12, 16}) {
    const auto x = ir::make_buffer("x", ir::kF32, {lanes}), y = ir::make_buffer("y", ir::kF32, {4});
    const auto s = ir::make_buffer("s", ir::kI32, {lanes}), t = ir::make_buffer("t", ir::kI32, {4});
    const Expr all = ir::ramp(Expr(0), Expr(1), lanes);
    std::vector<ir::Stmt> stores;
    const BinOp ops[] = {BinOp::Add, BinOp::Mul, BinOp::Min, BinOp::Max};
    for (int k = 0; k < 4; ++k) {
      stores.push_back(ir::store(y, {Expr(k)}, ir::vector_reduce(ops[k], ir::load(x, {all}))));
      stores.push_back(ir::store(t, {Expr(k)}, ir::vector_reduce(ops[k], ir::load(s, {all}))));
    }
    LoadedKernel kernel({"reduce", {x, s, y, t}, ir::block(stores)});
    Array<float> in(lanes), out(4);
    Array<std::int32_t> numbers(lanes), totals(4);
    float want[] = {0, 1, 1e9f, -1e9f};
    for (int i = 0; i < lanes; ++i) {
      numbers[i] = i % 3 - 2 + (i == 1 ? 7 : 0);
      in[i] = static_cast<float>(numbers[i]);
      want[0] += in[i], want[1] *= in[i];
      want[2] = std::min(want[2], in[i]), want[3] = std::max(want[3], in[i]);
    }
    kernel.run({in.data(), numbers.data(), out.data(), totals.data()});
    for (int k = 0; k < 4; ++k) {
      EXPECT_EQ(out[k], want[k]) << lanes << " lanes, operator " << k;
      EXPECT_EQ(static_cast<float>(totals[k]), want[k]) << lanes << " lanes, operator " << k;
    }
  }
}

TEST(Arithmetic, MinMaxTakeTheRightOperandBesideNan) {
  Array<float> x(4), y(4);
  x[0] = NAN, x[1] = -1, x[2] = 2, x[3] = -0.0f;
  LoadedKernel relu(elementwise(ir::kF32, ir::kF32, 4, 4,
                                [](Expr v) { return ir::max(ir::zero_of(v.type()), v); }));
  relu.run({x.data(), y.data()});
  EXPECT_TRUE(std::isnan(y[0]));
  EXPECT_EQ(y[1], 0);
  EXPECT_EQ(y[2], 2);
}

template <typename From, typename To>
void expect_cast(DType from, DType to, std::vector<From> values, std::vector<To> want) {
  for (const int lanes : {1, 4}) {
    Array<From> x(values.size());
    Array<To> y(values.size());
    for (std::size_t i = 0; i < values.size(); ++i) x[i] = values[i];
    LoadedKernel kernel(elementwise(from, to, static_cast<std::int64_t>(values.size()), lanes,
                                    [&](Expr v) { return ir::cast(to.with_lanes(lanes), v); }));
    kernel.run({x.data(), y.data()});
    for (std::size_t i = 0; i < values.size(); ++i) {
      EXPECT_EQ(y[i], want[i]) << to_string(from) << " to " << to_string(to) << ", " << +values[i];
    }
  }
}

TEST(Arithmetic, Casts) {
  const float inf = std::numeric_limits<float>::infinity();
  expect_cast<float, std::int32_t>(ir::kF32, ir::kI32, {-1.9f, 1.9f, 3e9f, -inf},
                                   {-1, 1, 2147483647, -2147483647 - 1});
  expect_cast<float, std::int8_t>(ir::kF32, ir::kI8, {-1.9f, 127.9f, 300, NAN}, {-1, 127, 127, 0});
  expect_cast<float, std::uint8_t>(ir::kF32, ir::kU8, {-1.9f, 255.9f, 300, 3.2f}, {0, 255, 255, 3});
  expect_cast<float, bool>(ir::kF32, ir::kBool, {0, -0.0f, 0.5f, NAN}, {false, false, true, true});
  expect_cast<bool, float>(ir::kBool, ir::kF32, {false, true, true, false}, {0, 1, 1, 0});
  expect_cast<std::int64_t, std::int32_t>(ir::kI64, ir::kI32, {-1, 1, (1LL << 32) + 5, 7},
                                          {-1, 1, 5, 7});
  expect_cast<std::int8_t, std::int32_t>(ir::kI8, ir::kI32, {-128, 127, -1, 0}, {-128, 127, -1, 0});
  expect_cast<std::uint8_t, float>(ir::kU8, ir::kF32, {255, 128, 1, 0}, {255, 128, 1, 0});
  expect_cast<float, double>(ir::kF32, ir::kF64, {0.1f, -2, 1e30f, 0}, {0.1f, -2, 1e30f, 0});
}

float half_value(std::uint16_t h) {
  const int exponent = (h >> 10) & 31, mantissa = h & 1023;
  const float sign = h & 0x8000 ? -1.0f : 1.0f;
  if (exponent == 31) return mantissa ? NAN : sign * INFINITY;
  if (exponent == 0) return sign * std::ldexp(static_cast<float>(mantissa), -24);
  return sign * std::ldexp(static_cast<float>(1024 + mantissa), exponent - 25);
}

// All 2^16 values go up and come back; values between two neighbours round to the nearer, ties to
// the even one.
void expect_small_floats(DType type, const target::Target& target,
                         float (*value_of)(std::uint16_t)) {
  const std::int64_t n = 1 << 16;
  Array<std::uint16_t> bits(n), back(n);
  Array<float> wide(n);
  for (int i = 0; i < n; ++i) bits[i] = static_cast<std::uint16_t>(i);
  LoadedKernel up(
      elementwise(type, ir::kF32, n, 8, [](Expr v) { return ir::cast(ir::kF32.with_lanes(8), v); }),
      target);
  LoadedKernel down(
      elementwise(ir::kF32, type, n, 8, [&](Expr v) { return ir::cast(type.with_lanes(8), v); }),
      target);
  up.run({bits.data(), wide.data()});
  for (int i = 0; i < n; ++i) {
    const float want = value_of(bits[i]);
    ASSERT_TRUE(wide[i] == want || (std::isnan(want) && std::isnan(wide[i]))) << i;
  }
  down.run({wide.data(), back.data()});
  for (int i = 0; i < n; ++i) {
    if (std::isnan(wide[i])) {
      ASSERT_TRUE(std::isnan(value_of(back[i]))) << i;
    } else {
      ASSERT_EQ(back[i], bits[i]);
    }
  }
  Array<float> between(n);
  for (int i = 0; i + 1 < n; ++i) {
    const float a = value_of(bits[i]), b = value_of(bits[i + 1]);
    const bool finite = std::isfinite(a) && std::isfinite(b) && std::signbit(a) == std::signbit(b);
    between[i] = finite ? static_cast<float>((static_cast<double>(a) + b) / 2) : a;
    if (finite && i % 3 == 0) between[i] = std::nextafter(between[i], b);
  }
  down.run({between.data(), back.data()});
  for (int i = 0; i + 1 < n; ++i) {
    const float a = value_of(bits[i]), b = value_of(bits[i + 1]);
    if (!std::isfinite(a) || !std::isfinite(b) || std::signbit(a) != std::signbit(b)) continue;
    const int want = i % 3 == 0 || i % 2 == 1 ? i + 1 : i;
    ASSERT_EQ(back[i], want) << between[i];
  }
}

float bfloat_value(std::uint16_t h) { return std::bit_cast<float>(std::uint32_t{h} << 16); }

TEST(Arithmetic, SmallFloats) {
  expect_small_floats(ir::kF16, host_target(), half_value);
  expect_small_floats(ir::kBF16, host_target(), bfloat_value);
  expect_small_floats(ir::kF16, cpu_target("x86-64"), half_value);
}

TEST(Arithmetic, SmallFloatArithmeticIsDoneInSingle) {
  Array<std::uint16_t> x(8), y(8);
  for (int i = 0; i < 8; ++i) x[i] = static_cast<std::uint16_t>(0x3c00 + i * 64);
  LoadedKernel kernel(elementwise(ir::kF16, ir::kF16, 8, 8, [](Expr v) { return v * v + v; }));
  kernel.run({x.data(), y.data()});
  for (int i = 0; i < 8; ++i) {
    const float v = half_value(x[i]);
    EXPECT_NEAR(half_value(y[i]), v * v + v, 4e-3f * v);
  }
}

}  // namespace
}  // namespace attune::cpu
