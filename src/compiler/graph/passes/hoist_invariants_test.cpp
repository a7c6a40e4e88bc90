#include <gtest/gtest.h>

#include "compiler/graph/passes/interpret_testing.h"
#include "compiler/graph/passes/pass_list.h"

namespace attune::graph {
namespace {

const TensorType kRow{ir::kF32, {3}, {}};

Attributes attributes(std::int64_t carried) {
  return {{"carried", carried},
          {"scanned", std::int64_t{0}},
          {"outputs_scanned", std::int64_t{0}},
          {"has_trip_count", std::int64_t{0}},
          {"has_condition", std::int64_t{0}},
          {"max_trips", std::int64_t{4}},
          {"reverse_inputs", std::vector<std::int64_t>{}},
          {"reverse_outputs", std::vector<std::int64_t>{}},
          {"extent", std::int64_t{-1}}};
}

// Four times: sum += c * c + fixed * 2, where `fixed` is carried along unchanged.
Graph looping() {
  Builder inner("body");
  inner.input("i", {ir::kI64, {}, {}});
  const ValueId sum = inner.input("sum", kRow), fixed = inner.input("fixed", kRow);
  const ValueId capture = inner.input("c", kRow);
  const ValueId two = inner.constant(ops::scalar_constant(ir::kF32, 2));
  const ValueId addend =
      *inner.add("add", {*inner.add("mul", {capture, capture}), *inner.add("mul", {fixed, two})});
  const ValueId next = *inner.add("add", {sum, addend});
  const auto body = std::make_shared<const Graph>(std::move(inner).finish({next, fixed}));
  Builder builder("outer");
  const ValueId x = builder.input("x", kRow), y = builder.input("y", kRow);
  const ValueId z = builder.input("z", kRow);
  const auto outputs =
      builder.add_node("loop", {kNoValue, kNoValue, x, y, z}, attributes(2), {body});
  return std::move(builder).finish({outputs->front()});
}

TEST(HoistInvariants, ComputesOnceWhatNeverVaries) {
  const auto after = hoist_invariants(looping(), {});
  ASSERT_TRUE(after.ok()) << after.error().message;
  ASSERT_TRUE(verify(*after).ok()) << verify(*after).error().message;
  ASSERT_EQ(after->nodes.size(), 4U);
  EXPECT_EQ(after->nodes.back().op, "loop");
  EXPECT_EQ(sketch(*after->nodes.back().bodies[0]),
            "%5 = add(%1, %4)\n"
            "return %5, %2\n");
}

TEST(HoistInvariants, LeavesWhatVaries) {
  Builder inner("body");
  inner.input("i", {ir::kI64, {}, {}});
  const ValueId sum = inner.input("sum", kRow), capture = inner.input("c", kRow);
  const ValueId next = *inner.add("mul", {sum, capture});
  const auto body = std::make_shared<const Graph>(std::move(inner).finish({next}));
  Builder builder("outer");
  const ValueId x = builder.input("x", kRow), y = builder.input("y", kRow);
  const auto outputs = builder.add_node("loop", {kNoValue, kNoValue, x, y}, attributes(1), {body});
  const Graph before = std::move(builder).finish(*outputs);
  const auto after = hoist_invariants(before, {});
  ASSERT_TRUE(after.ok());
  EXPECT_EQ(to_string(*after), to_string(before));
}

}  // namespace
}  // namespace attune::graph
