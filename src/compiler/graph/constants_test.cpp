#include "compiler/graph/constants.h"

#include <gtest/gtest.h>

#include "compiler/graph/builder.h"
#include "compiler/graph/passes/interpret_testing.h"

namespace attune::graph {
namespace {

using Shape = std::vector<std::int64_t>;

// As the interpreter transposes it.
ConstantPtr interpreted(const ConstantPtr& constant, const Shape& perm) {
  Builder builder("transpose");
  const ValueId x = builder.input("x", constant->type);
  const Graph graph = std::move(builder).finish({*builder.add("transpose", {x}, {{"perm", perm}})});
  return interpret_graph(graph, {constant})->front();
}

TEST(Constants, TransposeLikeTheInterpreter) {
  const std::pair<Shape, Shape> cases[] = {
      {{}, {}},
      {{5}, {0}},
      {{70, 33}, {1, 0}},
      {{3, 40, 35}, {1, 0, 2}},
      {{3, 40, 35}, {2, 1, 0}},
      {{3, 40, 35}, {0, 2, 1}},
      {{2, 3, 4, 5}, {2, 3, 1, 0}},
  };
  unsigned seed = 1;
  for (const auto& [shape, perm] : cases) {
    for (const ir::DType type : {ir::kF32, ir::kF64, ir::kF16, ir::kI8}) {
      const ConstantPtr constant = random_constant({type, shape, {}}, seed++);
      EXPECT_TRUE(
          same_contents(*transpose_constant(*constant, perm), *interpreted(constant, perm)));
    }
  }
  const ConstantPtr empty = ops::filled_constant({ir::kF32, {3, 0}, {}}, 0);
  EXPECT_EQ(transpose_constant(*empty, {1, 0})->type.shape, (Shape{0, 3}));
}

TEST(Constants, ConcatenateAlongAnyAxis) {
  const ConstantPtr a = ops::filled_constant({ir::kF32, {2, 1}, {}}, 1);
  const ConstantPtr b = ops::filled_constant({ir::kF32, {2, 2}, {}}, 2);
  EXPECT_EQ(reals(*concat_constants({a, b}, 1)), (std::vector<double>{1, 2, 2, 1, 2, 2}));
  EXPECT_EQ(reals(*concat_constants({b, b}, 0)), std::vector<double>(8, 2));
}

}  // namespace
}  // namespace attune::graph
