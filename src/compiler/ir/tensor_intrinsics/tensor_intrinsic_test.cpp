#include "compiler/ir/tensor_intrinsics/tensor_intrinsic.h"

#include <gtest/gtest.h>

#include "compiler/ir/nodes/intrinsics.h"

namespace attune::ir {
namespace {

TEST(TensorIntrinsics, AreDeclaredInFull) {
  for (const TensorIntrinsic& intrinsic : tensor_intrinsics()) {
    const Program program = intrinsic.program();
    EXPECT_TRUE(verify(program).ok()) << intrinsic.name;
    ASSERT_EQ(program.stages.size(), 1u);
    ASSERT_EQ(intrinsic.operands.size(), 1 + program.inputs.size());
    EXPECT_EQ(intrinsic.operands[0].name, program.stages[0].name);
    int arguments = 1 + static_cast<int>(program.stages[0].axes.size());
    for (std::size_t i = 0; i < program.inputs.size(); ++i) {
      EXPECT_EQ(intrinsic.operands[i + 1].name, program.inputs[i].buffer->name);
      arguments += 1 + static_cast<int>(program.inputs[i].buffer->shape.size());
    }
    EXPECT_GT(intrinsic.cycles, 0);
    const IntrinsicDecl* declared = find_intrinsic(intrinsic.name);
    ASSERT_NE(declared, nullptr) << intrinsic.name;
    EXPECT_EQ(declared->arg_count, arguments);
    EXPECT_EQ(declared->written_args, 1);
  }
}

}  // namespace
}  // namespace attune::ir
