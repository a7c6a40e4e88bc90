// Every element type through loads, arithmetic, comparisons, casts and stores: compiled code gives
// what the interpreter gives.
#include <gtest/gtest.h>

#include <cstring>

#include "compiler/ir/interpret/interpret.h"
#include "compiler/ir/text/print.h"
#include "targets/cpu/codegen/compiled_kernel_testing.h"

namespace attune::cpu {
namespace {

using ir::DType;
using ir::Expr;

constexpr std::int64_t kCount = 64;

// Small and large numbers of both signs, by bits; floats get quarters.
ir::Array inputs_of(DType type) {
  ir::Array array(type, {kCount});
  for (std::int64_t i = 0; i < kCount; ++i) {
    if (type.is_float()) {
      array.set_real(i, static_cast<double>(i - 30) * 0.25);
    } else {
      array.set_int(i, i % 5 == 0 ? -i : i % 5 == 1 ? (std::int64_t{1} << (type.bits - 1)) + i : i);
    }
  }
  return array;
}

// y[i] = value(x[i]) as the interpreter has it.
template <typename Function>
ir::Array interpreted(DType in, DType out, const ir::Array& x, Function value) {
  ir::Program program{"p", {}, {}, {}};
  const ir::Buffer a = ir::add_input(program, "x", in, {kCount});
  program.outputs = {
      ir::add_compute(program, "y", {{"i", kCount}}, value(ir::load(a, {ir::var("i")})))};
  EXPECT_EQ(program.outputs[0]->type, out);
  const auto result = ir::interpret(program, {x});
  EXPECT_TRUE(result.ok()) << result.error().message;
  return (*result)[0];
}

template <typename Function>
void expect_same(DType in, DType out, const char* what, Function value) {
  const ir::Array x = inputs_of(in);
  const ir::Array expected = interpreted(in, out, x, value);
  for (const int lanes : {1, 8}) {
    Array<std::byte> source(x.data.size()), result(expected.data.size());
    std::memcpy(source.data(), x.data.data(), x.data.size());
    LoadedKernel(elementwise(in, out, kCount, lanes, value)).run({source.data(), result.data()});
    for (std::size_t i = 0; i < result.size(); ++i) {
      ASSERT_EQ(result[i], expected.data[i])
          << what << " of " << ir::to_string(in) << " to " << ir::to_string(out) << ", byte " << i;
    }
  }
}

constexpr DType kTypes[] = {ir::kF64, ir::kF32, ir::kI8,  ir::kI16, ir::kI32,
                            ir::kI64, ir::kU8,  ir::kU16, ir::kU32, ir::kU64};

Expr constant(DType like, int value) {
  const DType type = like.element();
  const Expr scalar = type.is_float() ? ir::float_imm(value, type) : ir::int_imm(value, type);
  return like.is_scalar() ? scalar : ir::broadcast(scalar, like.lanes);
}

TEST(ElementTypes, ComputeAsTheInterpreterDoes) {
  for (const DType type : kTypes) {
    const auto three = [](const Expr& x) { return constant(x.type(), 3); };
    expect_same(type, type, "sum", [&](Expr x) { return x * three(x) + x; });
    expect_same(type, type, "difference", [&](Expr x) { return x - three(x); });
    expect_same(type, type, "minimum", [&](Expr x) { return ir::min(x, three(x)); });
    expect_same(type, type, "maximum", [&](Expr x) { return ir::max(x, three(x)); });
    expect_same(type, type, "quotient", [&](Expr x) { return x / three(x); });
    expect_same(type, type, "choice",
                [&](Expr x) { return ir::select(x < three(x), x, three(x)); });
    if (type.is_float()) continue;
    expect_same(type, type, "rest", [&](Expr x) { return x % three(x); });
    expect_same(type, type, "shift",
                [&](Expr x) { return ir::binary(ir::BinOp::Shr, x, three(x)); });
  }
}

TEST(ElementTypes, CastLikeTheInterpreter) {
  for (const DType from : kTypes) {
    for (const DType to : kTypes) {
      if (from == to) continue;
      expect_same(from, to, "cast",
                  [&](Expr x) { return ir::cast(to.with_lanes(x.type().lanes), x); });
    }
    const DType flag = ir::kBool;
    expect_same(from, flag, "cast",
                [&](Expr x) { return ir::cast(flag.with_lanes(x.type().lanes), x); });
  }
}

}  // namespace
}  // namespace attune::cpu
