#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <map>
#include <random>

#include "targets/cpu/codegen/compiled_kernel_testing.h"

namespace attune::cpu {
namespace {

using ir::MathFn;

// Distance in units in the last place of T at the expected value.
template <typename T>
double ulps(T got, long double want) {
  if (std::isnan(got) || std::isnan(want)) return std::isnan(got) && std::isnan(want) ? 0 : 1e30;
  const T rounded = static_cast<T>(want);
  if (std::isinf(rounded) || std::isinf(got)) {
    // The largest finite number and infinity are neighbours.
    if (got == rounded) return 0;
    return std::abs(got) == std::numeric_limits<T>::max() ||
                   std::abs(rounded) == std::numeric_limits<T>::max()
               ? 1
               : 1e30;
  }
  const T magnitude = std::max(std::abs(rounded), std::numeric_limits<T>::min());
  const T ulp = std::nextafter(magnitude, std::numeric_limits<T>::infinity()) - magnitude;
  return static_cast<double>(std::abs(static_cast<long double>(got) - want) / ulp);
}

struct Case {
  const char* name;
  MathFn fn;
  long double (*reference)(long double);
  double low, high;      // of the arguments; beyond them only special values are tried
  bool flushes = false;  // subnormal results of f32 may be 0
  double absolute = 0;   // an error of f32 that is small enough near 1
};

long double sigmoid(long double x) { return 1 / (1 + std::exp(-x)); }
long double rsqrt(long double x) { return 1 / std::sqrt(x); }

const Case kCases[] = {
    {"exp", MathFn::Exp, [](long double x) { return std::exp(x); }, -110, 95},
    {"log", MathFn::Log, [](long double x) { return std::log(x); }, 0, 1e6},
    {"log near 1", MathFn::Log, [](long double x) { return std::log(x); }, 0.5, 2},
    {"tanh", MathFn::Tanh, [](long double x) { return std::tanh(x); }, -12, 12, false, 4e-7},
    {"sigmoid", MathFn::Sigmoid, sigmoid, -110, 110, true},
    {"erf", MathFn::Erf, [](long double x) { return std::erf(x); }, -7, 7, false, 4e-7},
    {"sin", MathFn::Sin, [](long double x) { return std::sin(x); }, -1e5, 1e5},
    {"cos", MathFn::Cos, [](long double x) { return std::cos(x); }, -1e5, 1e5},
    {"tan", MathFn::Tan, [](long double x) { return std::tan(x); }, -1e3, 1e3},
    {"asin", MathFn::Asin, [](long double x) { return std::asin(x); }, -1.1, 1.1},
    {"acos", MathFn::Acos, [](long double x) { return std::acos(x); }, -1.1, 1.1},
    {"atan", MathFn::Atan, [](long double x) { return std::atan(x); }, -50, 50},
    {"sinh", MathFn::Sinh, [](long double x) { return std::sinh(x); }, -95, 95},
    {"cosh", MathFn::Cosh, [](long double x) { return std::cosh(x); }, -95, 95},
    {"asinh", MathFn::Asinh, [](long double x) { return std::asinh(x); }, -1e4, 1e4},
    {"acosh", MathFn::Acosh, [](long double x) { return std::acosh(x); }, 0.5, 1e4},
    {"atanh", MathFn::Atanh, [](long double x) { return std::atanh(x); }, -1.1, 1.1},
    {"sqrt", MathFn::Sqrt, [](long double x) { return std::sqrt(x); }, -1, 1e6},
    {"rsqrt", MathFn::Rsqrt, rsqrt, 0, 1e6},
    {"floor", MathFn::Floor, [](long double x) { return std::floor(x); }, -100, 100},
    {"ceil", MathFn::Ceil, [](long double x) { return std::ceil(x); }, -100, 100},
    {"trunc", MathFn::Trunc, [](long double x) { return std::trunc(x); }, -100, 100},
    {"round", MathFn::Round, [](long double x) { return std::nearbyint(x); }, -100, 100},
    {"abs", MathFn::Abs, [](long double x) { return std::fabs(x); }, -100, 100},
};

// Evenly spread values, values around zero of all sizes, halves, and the special ones.
template <typename T>
Array<T> arguments(const Case& test, std::size_t count) {
  Array<T> x(count);
  std::mt19937_64 random(17);
  std::uniform_real_distribution<double> even(test.low, test.high), exponent(-40, 3);
  for (std::size_t i = 0; i < count; ++i) {
    x[i] = static_cast<T>(even(random));
    if (i % 3 == 1) x[i] = static_cast<T>(std::copysign(std::pow(10.0, exponent(random)), x[i]));
    if (i % 16 == 2) x[i] = static_cast<T>(std::round(2 * even(random)) / 2);
  }
  using limits = std::numeric_limits<T>;
  const T special[] = {0,
                       -T{0},
                       1,
                       -1,
                       limits::min(),
                       limits::denorm_min(),
                       limits::max(),
                       -limits::max(),
                       limits::infinity(),
                       -limits::infinity(),
                       limits::quiet_NaN(),
                       -limits::denorm_min()};
  for (std::size_t i = 0; i < std::size(special); ++i) x[i] = special[i];
  return x;
}

bool has_period(MathFn fn) { return fn == MathFn::Sin || fn == MathFn::Cos || fn == MathFn::Tan; }

template <typename T>
void expect_accurate(const Case& test, int lanes, const target::Target& target, double limit) {
  const std::int64_t n = 4096;
  const ir::DType type = sizeof(T) == 4 ? ir::kF32 : ir::kF64;
  LoadedKernel kernel(
      elementwise(type, type, n, lanes, [&](ir::Expr x) { return ir::math(test.fn, {x}); }),
      target);
  Array<T> x = arguments<T>(test, n), y(n);
  kernel.run({x.data(), y.data()});
  for (int i = 0; i < n; ++i) {
    if (has_period(test.fn) && std::abs(x[i]) > 1e12 && !std::isinf(x[i])) continue;
    const long double want = test.reference(static_cast<long double>(x[i]));
    if (sizeof(T) == 4) {
      if (test.flushes && y[i] == 0 && std::abs(want) < 0x1p-126) continue;
      if (std::abs(want) > 0.5 && std::abs(y[i] - want) < test.absolute) continue;
    }
    ASSERT_LE(ulps(y[i], want), limit) << test.name << "(" << x[i] << ") = " << y[i] << ", not "
                                       << static_cast<double>(want) << ", " << lanes << " lanes";
  }
}

TEST(Math, SingleWithinFewUlp) {
  const target::Target target = host_target();
  for (const Case& test : kCases) {
    for (const int lanes : {1, target.lanes(4)}) {
      expect_accurate<float>(test, lanes, target, 4);
    }
  }
}

TEST(Math, DoubleWithinTwelveDigits) {
  const target::Target target = host_target();
  for (const Case& test : kCases) {
    expect_accurate<double>(test, target.lanes(8), target, 1e-12 * 0x1p52);
  }
}

TEST(Math, OldProcessorsNeedNoLibrary) {
  // No fused multiply-add and no rounding instructions: the formulas lose some digits.
  const target::Target target = cpu_target("x86-64");
  for (const Case& test : kCases) {
    if (test.fn == MathFn::Sin || test.fn == MathFn::Cos || test.fn == MathFn::Tan) continue;
    expect_accurate<float>(test, 4, target, 6);
  }
}

// A function that models compute in bulk.
struct BulkCase {
  const char* name;
  ir::Expr (*function)(const ir::Expr&);
  double (*reference)(double);
  double flushed = 0;   // smaller results may be 0
  double absolute = 0;  // an error that is small enough whatever its ulps
};

template <MathFn fn>
ir::Expr of(const ir::Expr& x) {
  return ir::math(fn, {x});
}

const BulkCase kBulk[] = {
    {"exp", of<MathFn::Exp>, [](double x) { return std::exp(x); }},
    {"tanh", of<MathFn::Tanh>, [](double x) { return std::tanh(x); }, 0, 4e-7},
    {"erf", of<MathFn::Erf>, [](double x) { return std::erf(x); }, 0, 4e-7},
    {"sigmoid", of<MathFn::Sigmoid>, [](double x) { return 1 / (1 + std::exp(-x)); }, 0x1p-126},
    {"silu", [](const ir::Expr& x) { return x * of<MathFn::Sigmoid>(x); },
     [](double x) { return x / (1 + std::exp(-x)); }, 0x1p-120},
    {"swish",
     [](const ir::Expr& x) {
       return of<MathFn::Sigmoid>(x * ir::broadcast(ir::float_imm(2), x.type().lanes)) * x;
     },
     [](double x) { return x / (1 + std::exp(-2 * x)); }, 0x1p-120},
};

// The largest error over f32 of all sizes, each sign, special values and both ends of subnormals.
void expect_accurate_everywhere(const BulkCase& test, const target::Target& target, int lanes) {
  const std::int64_t n = 1 << 18;
  LoadedKernel kernel(elementwise(ir::kF32, ir::kF32, n, lanes, test.function), target);
  Array<float> x(n), y(n);
  for (std::int64_t i = 0; i < n; ++i) {
    // Steps by an odd number through all bit patterns.
    x[i] = std::bit_cast<float>(static_cast<std::uint32_t>(i * 16381 + 0x7f7fffff));
  }
  kernel.run({x.data(), y.data()});
  for (std::int64_t i = 0; i < n; ++i) {
    const double want = test.reference(x[i]);
    if (y[i] == 0 && std::abs(want) < test.flushed) continue;
    if (std::abs(want) > 0.5 && std::abs(y[i] - want) < test.absolute) continue;
    ASSERT_LE(ulps(y[i], want), 4) << test.name << "(" << x[i] << ") = " << y[i] << ", not " << want
                                   << ", " << lanes << " lanes, " << to_string(target);
  }
}

TEST(Math, BulkFunctionsWithinFourUlpEverywhere) {
  const target::Target host = host_target();
  for (const BulkCase& test : kBulk) {
    expect_accurate_everywhere(test, host, host.lanes(4));
    expect_accurate_everywhere(test, host, 4);
    if (host.fma) expect_accurate_everywhere(test, cpu_target("x86-64-v3"), 8);
  }
}

TEST(Math, BulkFunctionsAreFewInstructions) {
  // Vector instructions of a loop over one vector, its load, store and copies included; constants
  // are broadcast before it.
  const auto count = [](const BulkCase& test, const char* cpu, int lanes) {
    const ir::Kernel kernel = elementwise(ir::kF32, ir::kF32, 1 << 12, lanes, test.function);
    const std::string text = emit_asm(kernel, cpu_target(cpu)).value();
    int vectors = 0;
    for (std::size_t at = 0; (at = text.find("\n\tv", at)) != std::string::npos; ++at) {
      vectors +=
          text.compare(at + 2, 10, "vbroadcast") == 0 || text.compare(at + 2, 6, "vzeroup") == 0
              ? 0
              : 1;
    }
    return vectors;
  };
  const std::map<std::string, std::pair<int, int>> most{{"exp", {17, 23}},  {"tanh", {19, 19}},
                                                        {"erf", {19, 19}},  {"sigmoid", {18, 19}},
                                                        {"silu", {19, 20}}, {"swish", {20, 21}}};
  for (const BulkCase& test : kBulk) {
    EXPECT_LE(count(test, "skylake-avx512", 16), most.at(test.name).first) << test.name;
    EXPECT_LE(count(test, "haswell", 8), most.at(test.name).second) << test.name;
  }
}

TEST(Math, PowerFollowsC) {
  using limits = std::numeric_limits<float>;
  std::vector<float> bases, exponents;
  const float some[] = {0,
                        -0.0f,
                        1,
                        -1,
                        2,
                        -2,
                        0.5f,
                        -0.5f,
                        3.7f,
                        -3.7f,
                        1e30f,
                        1e-30f,
                        limits::infinity(),
                        -limits::infinity(),
                        limits::quiet_NaN(),
                        10,
                        -10,
                        2.5f,
                        1e9f,
                        -3};
  for (const float a : some)
    for (const float b : some) bases.push_back(a), exponents.push_back(b);
  std::mt19937_64 random(3);
  std::uniform_real_distribution<float> base(0, 20), exponent(-20, 20);
  while (bases.size() < 2048) bases.push_back(base(random)), exponents.push_back(exponent(random));
  const std::int64_t n = 2048;
  const int lanes = 8;
  const auto a = ir::make_buffer("a", ir::kF32, {n}), b = ir::make_buffer("b", ir::kF32, {n}),
             c = ir::make_buffer("c", ir::kF32, {n});
  const ir::Expr index = ir::ramp(ir::var("i") * ir::Expr(lanes), ir::Expr(1), lanes);
  ir::Stmt body =
      ir::store(c, {index}, ir::math(MathFn::Pow, {ir::load(a, {index}), ir::load(b, {index})}));
  LoadedKernel kernel({"power", {a, b, c}, ir::for_loop("i", 0, n / lanes, body)});
  Array<float> x(n), y(n), z(n);
  for (int i = 0; i < n; ++i) x[i] = bases[i], y[i] = exponents[i];
  kernel.run({x.data(), y.data(), z.data()});
  for (int i = 0; i < n; ++i) {
    const long double want = std::pow(static_cast<long double>(x[i]), y[i]);
    ASSERT_LE(ulps(z[i], want), 2) << x[i] << " ^ " << y[i] << " = " << z[i];
    EXPECT_TRUE(std::isnan(want) || std::signbit(z[i]) == std::signbit(want))
        << x[i] << " ^ " << y[i];
  }
}

TEST(Math, SignAndClasses) {
  const std::int64_t n = 8;
  Array<float> x(n), y(n);
  const float inf = std::numeric_limits<float>::infinity();
  const float values[] = {-3, 0, 7, inf, -inf, NAN, 1e-40f, -0.0f};
  for (int i = 0; i < n; ++i) x[i] = values[i];
  LoadedKernel sign(elementwise(ir::kF32, ir::kF32, n, 8,
                                [](ir::Expr v) { return ir::math(MathFn::Sign, {v}); }));
  sign.run({x.data(), y.data()});
  const float signs[] = {-1, 0, 1, 1, -1, NAN, 1, 0};
  for (int i = 0; i < n; ++i) EXPECT_TRUE(y[i] == signs[i] || (std::isnan(y[i]) && i == 5)) << i;
  Array<bool> flag(n);
  LoadedKernel is_nan(elementwise(ir::kF32, ir::kBool, n, 4,
                                  [](ir::Expr v) { return ir::math(MathFn::IsNan, {v}); }));
  is_nan.run({x.data(), flag.data()});
  for (int i = 0; i < n; ++i) EXPECT_EQ(flag[i], i == 5);
  LoadedKernel is_inf(elementwise(ir::kF32, ir::kBool, n, 4,
                                  [](ir::Expr v) { return ir::math(MathFn::IsInf, {v}); }));
  is_inf.run({x.data(), flag.data()});
  for (int i = 0; i < n; ++i) EXPECT_EQ(flag[i], i == 3 || i == 4);
}

}  // namespace
}  // namespace attune::cpu
