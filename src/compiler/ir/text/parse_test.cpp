#include "compiler/ir/text/parse.h"

#include <gtest/gtest.h>

#include <cmath>

#include "compiler/ir/text/print.h"

namespace attune::ir {
namespace {

// The printed form, once it is known to read back as the same expression.
std::string round_trip(const Expr& e, const std::vector<Buffer>& buffers = {}) {
  std::string text = to_string(e);
  const auto back = parse_expr(text, buffers);
  if (!back.ok()) return back.error().message;
  EXPECT_TRUE(equal(*back, e)) << text << " reads back as " << to_string(*back);
  return text;
}

TEST(Print, Expressions) {
  const Expr i = var("i"), j = var("j"), k = var("k");
  const Buffer b = make_buffer("B", kF32, {4, 4}), s = make_buffer("s", kF32, {});
  EXPECT_EQ(round_trip((i + j) * 4 - (k - 1)), "(i + j) * 4 - (k - 1)");
  EXPECT_EQ(round_trip(i - Expr(-3)), "i - -3");
  EXPECT_EQ(round_trip(i / 4 % 3), "i / 4 % 3");
  EXPECT_EQ(round_trip(i / (j % 3)), "i / (j % 3)");
  EXPECT_EQ(round_trip(i < 3 && (j < 4 || k == 2)), "i < 3 && (j < 4 || k == 2)");
  EXPECT_EQ(round_trip(min(i, j + 1)), "min(i, j + 1)");
  EXPECT_EQ(round_trip(load(b, {i, j}) * load(s, {}), {b, s}), "B[i, j] * s[]");
  EXPECT_EQ(round_trip(load(b, {i, ramp(j, 1, 4)}), {b}), "B[i, ramp(j, 1, 4)]");
  EXPECT_EQ(round_trip(broadcast(float_imm(0.1), 8)), "broadcast(0.1f32, 8)");
  EXPECT_EQ(round_trip(float_imm(1e30, kF64)), "1e+30f64");
  EXPECT_EQ(round_trip(float_imm(-2, kBF16)), "-2.0bf16");
  EXPECT_EQ(round_trip(float_imm(-HUGE_VAL)), "-inf:f32");
  EXPECT_EQ(round_trip(float_imm(std::nan(""), kF16)), "nan:f16");
  EXPECT_EQ(round_trip(int_imm(-9223372036854775807 - 1)), "-9223372036854775808");
  EXPECT_EQ(round_trip(int_imm(7, kI8) + var("n", kI8)), "7i8 + n:i8");
  EXPECT_EQ(round_trip(cast(kF32, i)), "cast<f32>(i)");
  EXPECT_EQ(round_trip(bitcast(kI32, var("f", kF32))), "bitcast<i32>(f:f32)");
  EXPECT_EQ(round_trip(math(MathFn::Neg, {i})), "neg(i)");
  EXPECT_EQ(round_trip(select(bool_imm(true), i, j)), "select(true, i, j)");
  EXPECT_EQ(round_trip(vector_reduce(BinOp::Add, ramp(i, 2, 4))), "reduce_add(ramp(i, 2, 4))");
  EXPECT_EQ(round_trip(opaque("worker", kIndex, {})), "@worker<i64>()");
  EXPECT_EQ(round_trip(binary(BinOp::Shl, i, 2) + binary(BinOp::BitAnd, i, 3)),
            "(i << 2) + (i & 3)");
  EXPECT_EQ(round_trip(var("epilogue.0")), "epilogue.0");
  EXPECT_EQ(round_trip(var("for") + var("it's")), "'for' + 'it\\'s'");
}

constexpr const char* kKernel = R"(kernel copy(A: f32[4, 8], B: f32[4, 8]) workspace 64 {
  alloc T: f32[8] stack {
    parallel for i in 3 from 1 with grain = '1', order = fast {
      T[ramp(0, 1, 8)] = A[i, ramp(0, 1, 8)] * broadcast(2.0f32, 8)
      if (i < 3) {
        B[i, ramp(0, 1, 8)] = T[ramp(0, 1, 8)]
      } else {
        {
          eval @launder<i32>()
        }
      }
    }
    bound for t in 8 on thread.x {
      barrier shared
      let x = t + 1 {
      }
    }
  }
}
)";

TEST(Print, Kernels) {
  const auto kernel = parse_kernel(kKernel);
  ASSERT_TRUE(kernel.ok()) << kernel.error().message;
  EXPECT_EQ(to_string(*kernel), kKernel);
  const auto* outer = as<Allocate>(kernel->body);
  ASSERT_TRUE(outer);
  EXPECT_EQ(outer->buffer->scope, Scope::Stack);
  const auto* loop = as<For>(as<Block>(outer->body)->stmts[0]);
  EXPECT_EQ(loop->kind, LoopKind::Parallel);
  EXPECT_EQ(loop->notes.size(), 2u);
  EXPECT_EQ(loop->notes[1].second, "fast");
  EXPECT_TRUE(is_const_int(loop->min, 1));
}

constexpr const char* kProgram = R"(program dense {
  input A: f32[4, 8]
  constant W: f32[8, 16]
  stage anchor(i: 4, j: 16) = sum(k: 8) A[i, k] * W[k, j]
  stage relu(i: 4, j: 16) = max(anchor[i, j], 0.0f32)
  stage best(i: 4) = argmax(k: 16) (relu[i, k], k)
  stage top(i: 4) = max(k: 16) relu[i, k]
  stage odd(i: 4) -> odd: f32[4] shared = top[i]
  output best
  output best.index
}
)";

TEST(Print, Programs) {
  const auto program = parse_program(kProgram);
  ASSERT_TRUE(program.ok()) << program.error().message;
  EXPECT_EQ(to_string(*program), kProgram);
  EXPECT_EQ(program->stages[2].reduction, Reduction::ArgMax);
  EXPECT_EQ(program->outputs[1]->type, kI64);
  EXPECT_EQ(program->stages[1].reduction, Reduction::None);
  EXPECT_TRUE(program->inputs[1].constant);
}

TEST(Print, HashIsStableAndIgnoresTheName) {
  Program program = *parse_program(kProgram);
  const std::uint64_t known = 12553135520871468695ull;
  EXPECT_EQ(hash(program), known);
  program.name = "other";
  EXPECT_EQ(hash(program), known);
  program.stages[0].axes[0].extent = 5;
  EXPECT_NE(hash(program), known);
}

std::string failure(std::string_view text) {
  const auto result = parse_expr(text);
  return result.ok() ? "parsed" : result.error().message;
}

TEST(Parse, ErrorsSayWhere) {
  EXPECT_EQ(failure("i +"), "line 1, column 4: expected an expression, found the end");
  EXPECT_EQ(failure("(i + 2"), "line 1, column 7: expected ')', found the end");
  EXPECT_EQ(failure("i +\n  2.0f32"),
            "line 1, column 3: operands of '+' differ in type: i64 and f32");
  EXPECT_EQ(failure("B[i]"), "line 1, column 1: buffer 'B' is not declared");
  EXPECT_EQ(failure("i $ j"), "line 1, column 3: unexpected character '$'");
  EXPECT_EQ(failure("foo(i)"), "line 1, column 1: there is no function 'foo'");
  EXPECT_EQ(failure("3f32"), "line 1, column 1: '3' is not a constant of type f32");
  EXPECT_EQ(failure("3q7"), "line 1, column 1: 'q7' is not a type of constants");
  EXPECT_EQ(failure("99999999999999999999"),
            "line 1, column 1: '99999999999999999999' is out of range");
  EXPECT_EQ(failure("ramp(i, 1, j)"),
            "line 1, column 1: ramp needs two scalars of one type and the number of lanes");
  EXPECT_EQ(failure("select(i, 1, 2)"),
            "line 1, column 1: select needs a bool and two values of one type");
  EXPECT_EQ(failure("i j"), "line 1, column 3: expected the end, found 'j'");
  EXPECT_EQ(failure("'abc"), "line 1, column 1: the quoted name has no end");
  EXPECT_EQ(failure(std::string(2000, '(')), "line 1, column 501: nested too deeply");
  EXPECT_EQ(failure("-i"), "line 1, column 2: expected a number after '-', found 'i'");
}

TEST(Parse, KernelErrorsSayWhere) {
  EXPECT_EQ(
      parse_kernel("kernel k(A: f32[4]) {\n  A[0] = 1.0f32\n  A[0, 1] = 1.0f32\n}").error().message,
      "line 3, column 3: buffer 'A' has 1 dimensions, 2 indices are given");
  EXPECT_EQ(parse_kernel("kernel k() {\n  for i 3 {}\n}").error().message,
            "line 2, column 9: expected 'in', found '3'");
  EXPECT_EQ(parse_kernel("kernel k() {").error().message,
            "line 1, column 13: expected '}', found the end");
  EXPECT_EQ(parse_kernel("kernel k() { if (3) {} }").error().message,
            "line 1, column 17: the condition is i64, not bool");
  EXPECT_EQ(parse_program("program p { output X }").error().message,
            "line 1, column 20: tensor 'X' is not declared");
  EXPECT_EQ(parse_program("program p { what }").error().message,
            "line 1, column 13: expected input, constant, stage, output or '}', found 'what'");
  EXPECT_EQ(parse_program("program p { stage s(i: 4) = argmax(k: 3) (1.0f32) }").error().message,
            "line 1, column 19: argmax needs 2 values, 1 are given");
}

}  // namespace
}  // namespace attune::ir
