#include "compiler/ir/verify/verify.h"

#include <gtest/gtest.h>

#include "compiler/ir/nodes/tensor_expr.h"

namespace attune::ir {
namespace {

class Verify : public testing::Test {
 protected:
  std::string message(const Stmt& body) const {
    const Status status = verify(Kernel{"k", {b}, body, 0});
    return status.ok() ? "" : status.error().message;
  }
  static Stmt loops(Stmt body) { return for_loop("i", 0, 8, for_loop("j", 0, 8, std::move(body))); }

  const Expr i = var("i"), j = var("j"), f = var("f", kF32);
  const Buffer b = make_buffer("B", kF32, {8, 8});
};

TEST_F(Verify, AcceptsAKernel) {
  const Buffer t = make_buffer("T", kF32, {4}, Scope::Register);
  EXPECT_EQ(message(loops(store(b, {i, j}, load(b, {j, i})))), "");
  EXPECT_EQ(
      message(for_loop("i", 0, 8,
                       allocate(t, block({store(t, {ramp(0, 1, 4)}, load(b, {i, ramp(4, 1, 4)})),
                                          store(b, {i, 0}, load(t, {0}))})))),
      "");
  EXPECT_EQ(message(let("f", float_imm(1), loops(store(b, {i, j}, f)))), "");
  EXPECT_EQ(message(block({})), "");
}

TEST_F(Verify, VariablesAndBuffersExist) {
  EXPECT_EQ(message(for_loop("i", 0, 8, store(b, {i, j}, float_imm(0)))),
            "a variable that is not defined: 'j' in kernel 'k'");
  EXPECT_EQ(message(let("f", int_imm(1, kI32), loops(store(b, {i, j}, f)))),
            "a variable of another type than defined: 'f:f32' in kernel 'k'");
  EXPECT_EQ(message(for_loop("i", 0, 8, for_loop("i", 0, 8, store(b, {i, i}, float_imm(0))))),
            "a variable inside of another of the same name: 'i' in kernel 'k'");
  const Buffer c = make_buffer("C", kF32, {8});
  EXPECT_EQ(message(loops(store(b, {i, j}, load(c, {i})))),
            "a buffer that does not exist here: 'C' in 'C[i]' in kernel 'k'");
  EXPECT_EQ(message(allocate(make_buffer("B", kF32, {8}), block({}))),
            "two buffers of one name: 'B' in kernel 'k'");
  EXPECT_EQ(
      message(allocate(make_buffer("D", kF32, {1ll << 40, 1ll << 40}), block({}))),
      "a buffer larger than any memory: 'D: f32[1099511627776, 1099511627776]' in kernel 'k'");
}

TEST_F(Verify, TypesFit) {
  EXPECT_EQ(message(loops(store(b, {i, j}, int_imm(0, kI32)))),
            "a store of another type than its place: 'B[i, j] = 0i32' in kernel 'k'");
  EXPECT_EQ(message(loops(store(b, {i, ramp(0, 1, 4)}, float_imm(0)))),
            "a store of another type than its place: 'B[i, ramp(0, 1, 4)] = 0.0f32' in kernel 'k'");
  EXPECT_EQ(message(loops(store(b, {i, j}, math(MathFn::Not, {float_imm(1)})))),
            "a function that is not defined on its arguments: 'not(1.0f32)' in kernel 'k'");
  EXPECT_EQ(message(loops(store(b, {i, j}, float_imm(1) && float_imm(0)))),
            "an operator that is not defined on its operands: '1.0f32 && 0.0f32' in kernel 'k'");
  EXPECT_EQ(
      message(loops(store(b, {i, j}, load(b, {int_imm(0, kI32), j})))),
      "a load whose indices are not i64, scalars or of its lanes: 'B[0i32, j]' in kernel 'k'");
  EXPECT_EQ(message(evaluate(int_imm(300, kU8))),
            "a constant outside of its type: '300u8' in kernel 'k'");
  EXPECT_EQ(message(evaluate(vector_reduce(BinOp::Sub, broadcast(float_imm(1), 4)))),
            "a reduction over lanes that is not add, mul, min or max of a vector: "
            "'reduce_unknown(broadcast(1.0f32, 4))' in kernel 'k'");
}

TEST_F(Verify, LoopsBarriersAndIntrinsics) {
  EXPECT_EQ(message(for_loop("i", 0, 8, block({}), LoopKind::Bound)),
            "a loop with an axis that is not bound, or bound without one: 'bound for i in 8' in "
            "kernel 'k'");
  EXPECT_EQ(
      message(for_loop("i", 0, 8, for_loop("j", 0, i, block({}), LoopKind::Vectorized))),
      "a vectorized loop whose extent is not constant: 'vectorized for j in i' in kernel 'k'");
  EXPECT_EQ(message(make_stmt(Barrier{Scope::Shared})),
            "a barrier outside of all bound loops: 'shared' in kernel 'k'");
  EXPECT_EQ(message(evaluate(opaque("magic", kI32, {}))),
            "an intrinsic that is not declared: '@magic<i32>()' in kernel 'k'");
  EXPECT_EQ(message(evaluate(opaque("launder", kI32, {Expr(1)}))),
            "an intrinsic with the wrong number of arguments: '@launder<i32>(1)' in kernel 'k'");
}

std::string program_message(const Program& p) {
  const Status status = verify(p);
  return status.ok() ? "" : status.error().message;
}

TEST_F(Verify, ProgramsAreAcceptedOrNameWhatIsWrong) {
  Program p{"p", {}, {}, {}};
  const Buffer a = add_input(p, "A", kF32, {4, 8});
  const Buffer s = add_reduce(p, "s", {{"i", 4}}, {{"j", 8}}, Reduction::Sum, load(a, {i, j}));
  EXPECT_EQ(program_message(p), "program 'p': there is no output");
  p.outputs = {s};
  EXPECT_EQ(program_message(p), "");

  Program late = p;
  const Buffer other = make_buffer("Z", kF32, {4});
  late.stages[0].values[0] = load(other, {i});
  EXPECT_EQ(program_message(late),
            "program 'p': tensor 'Z' is read before it is computed in stage 's'");
  Program axis = p;
  axis.stages[0].reduce_axes[0].name = "k";
  EXPECT_EQ(program_message(axis), "program 'p': variable 'j' is no axis in stage 's'");
  axis.stages[0].reduce_axes[0] = {"i", 8};
  EXPECT_EQ(program_message(axis), "program 'p': stage 's' has two axes 'i'");
  axis.stages[0].reduce_axes[0] = {"j", 0};
  EXPECT_EQ(program_message(axis),
            "program 'p': axis 'j' of stage 's' has extent 0, must be positive");
  Program twice = p;
  add_compute(twice, "A", {{"i", 4}}, float_imm(0));
  EXPECT_EQ(program_message(twice), "program 'p': two tensors are named 'A'");
  Program shape = p;
  shape.stages[0].axes[0].extent = 3;
  EXPECT_EQ(program_message(shape), "program 'p': shape [4] of tensor 's' is not that of its axes");
}

}  // namespace
}  // namespace attune::ir
