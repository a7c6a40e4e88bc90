#include <gtest/gtest.h>

#include "compiler/graph/passes/interpret_testing.h"
#include "compiler/graph/passes/pass_list.h"

namespace attune::graph {
namespace {

const TensorType kRow{ir::kF32, {3}, {}};

ValueId number(Builder& builder, double value) {
  return builder.constant(ops::scalar_constant(ir::kF32, value));
}

// op(a, b), with an input c that nobody needs.
std::shared_ptr<const Graph> branch(const std::string& op) {
  Builder builder(op);
  const ValueId a = builder.input("a", kRow), b = builder.input("b", {ir::kF32, {}, {}});
  builder.input("c", kRow);
  return std::make_shared<const Graph>(std::move(builder).finish({*builder.add(op, {a, b})}));
}

Graph choice(ConstantPtr condition) {
  Builder builder("choice");
  const ValueId x = builder.input("x", kRow), y = builder.input("y", kRow);
  const ValueId which = condition != nullptr ? builder.constant(std::move(condition))
                                             : builder.input("which", {ir::kBool, {}, {}});
  const ValueId two = number(builder, 2);
  const auto outputs =
      builder.add_node("if", {which, x, two, y}, {}, {branch("mul"), branch("add")});
  return std::move(builder).finish({*builder.add("add", {outputs->front(), x})});
}

TEST(SimplifyControl, TakesTheBranchThatIsKnown) {
  const Graph yes = *simplify_control(choice(ops::scalar_constant(ir::kBool, 1)), {});
  ASSERT_TRUE(verify(yes).ok());
  EXPECT_EQ(sketch(yes),
            "%2 = mul(%0, 2)\n"
            "%3 = add(%2, %0)\n"
            "return %3\n");
  const Graph no = *simplify_control(choice(ops::scalar_constant(ir::kBool, 0)), {});
  EXPECT_EQ(no.nodes.front().op, "add");
}

TEST(SimplifyControl, HandsBodiesOnlyWhatVaries) {
  const Graph after = *simplify_control(choice(nullptr), {});
  ASSERT_TRUE(verify(after).ok());
  EXPECT_EQ(sketch(after),
            "%3 = if(%2, %0)\n"
            "%4 = add(%3, %0)\n"
            "return %4\n");
  EXPECT_EQ(sketch(*after.nodes[0].bodies[0]),
            "%1 = mul(%0, 2)\n"
            "return %1\n");
  EXPECT_EQ(sketch(*after.nodes[0].bodies[1]),
            "%1 = add(%0, 2)\n"
            "return %1\n");
}

TEST(SimplifyControl, PassesRunOnBodies) {
  Builder inner("inner");
  const ValueId a = inner.input("a", kRow);
  const ValueId same = *inner.add("mul", {*inner.add("mul", {a, a}), number(inner, 1)});
  const auto body = std::make_shared<const Graph>(std::move(inner).finish({same}));
  Builder builder("outer");
  const ValueId x = builder.input("x", kRow), which = builder.input("which", {ir::kBool, {}, {}});
  const auto outputs = builder.add_node("if", {which, x}, {}, {body, body});
  const auto after = optimise(std::move(builder).finish(*outputs));
  ASSERT_TRUE(after.ok()) << after.error().message;
  EXPECT_EQ(sketch(*after->nodes[0].bodies[1]),
            "%1 = mul(%0, %0)\n"
            "return %1\n");
}

}  // namespace
}  // namespace attune::graph
