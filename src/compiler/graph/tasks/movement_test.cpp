// What the operators of src/compiler/ops mean that move, choose and pad elements.
#include "compiler/graph/evaluate_testing.h"

#include <gtest/gtest.h>

namespace attune::graph {
namespace {

TEST(Movement, TransposeSliceConcat) {
  EXPECT_EQ(run("transpose", {iota({2, 3})}, {{"perm", Extents{1, 0}}}),
            (Evaluated{{3, 2}, {0, 3, 1, 4, 2, 5}}));
  EXPECT_EQ(run("slice", {iota({2, 4})},
                {{"starts", Extents{1, 3}}, {"steps", Extents{1, -2}}, {"shape", Extents{1, 2}}}),
            (Evaluated{{1, 2}, {7, 5}}));
  EXPECT_EQ(run("concat", {iota({2, 1}), iota({2, 0}), iota({2, 2}), iota({2, 1})}, {{"axis", 1L}}),
            (Evaluated{{2, 4}, {0, 0, 1, 0, 1, 2, 3, 1}}));
  EXPECT_EQ(error_of("transpose", {iota({2, 3})}, {{"perm", Extents{1, 1}}}),
            "transpose of f32[2,3]: [1,1] is no order of its dimensions");
  EXPECT_EQ(error_of("concat", {iota({2, 3}), iota({3, 3})}, {{"axis", 1L}}),
            "concat of f32[2,3], f32[3,3]: they differ in more than dimension 1");
}

TEST(Movement, StackAddsADimension) {
  EXPECT_EQ(run("stack", {iota({2}), tensor(ir::kF32, {2}, {7, 8}), iota({2})}, {}),
            (Evaluated{{3, 2}, {0, 1, 7, 8, 0, 1}}));
  EXPECT_EQ(run("stack", {iota({1, 2})}, {}), (Evaluated{{1, 1, 2}, {0, 1}}));
  EXPECT_EQ(error_of("stack", {iota({2}), iota({3})}, {}),
            "stack of f32[2], f32[3]: they differ in type or shape");
}

TEST(Movement, ExpandTileRepeat) {
  EXPECT_EQ(run("expand", {iota({2, 1})}, {{"shape", Extents{1, 2, 2}}}),
            (Evaluated{{1, 2, 2}, {0, 0, 1, 1}}));
  EXPECT_EQ(run("tile", {iota({2})}, {{"repeats", Extents{2}}}), (Evaluated{{4}, {0, 1, 0, 1}}));
  EXPECT_EQ(run("repeat", {iota({2})}, {{"repeats", Extents{2}}}), (Evaluated{{4}, {0, 0, 1, 1}}));
}

TEST(Gather, WrapsNegativeAndClampsOthers) {
  const ConstantPtr places = tensor(ir::kI64, {3}, {-1, 99, 0});
  EXPECT_EQ(run("gather", {iota({3, 2}), places}, {{"axis", 0L}}),
            (Evaluated{{3, 2}, {4, 5, 4, 5, 0, 1}}));
  EXPECT_EQ(
      run("gather_elements", {iota({2, 2}), tensor(ir::kI32, {1, 2}, {1, -2})}, {{"axis", 0L}}),
      (Evaluated{{1, 2}, {2, 1}}));
  EXPECT_EQ(
      run("gather_nd", {iota({2, 2}), tensor(ir::kI64, {2, 1}, {1, -1})}, {{"batch_dims", 1L}}),
      (Evaluated{{2}, {1, 3}}));
}

TEST(Pad, Modes) {
  const Extents pads{2, 3};
  const auto padded = [&](const char* mode, const Extents& by) {
    return run("pad", {iota({3}), tensor(ir::kF32, {}, {9})},
               {{"pads", by}, {"mode", std::string(mode)}})
        .values;
  };
  EXPECT_EQ(padded("constant", pads), (Numbers{9, 9, 0, 1, 2, 9, 9, 9}));
  EXPECT_EQ(padded("edge", pads), (Numbers{0, 0, 0, 1, 2, 2, 2, 2}));
  EXPECT_EQ(padded("reflect", pads), (Numbers{2, 1, 0, 1, 2, 1, 0, 1}));
  EXPECT_EQ(padded("wrap", pads), (Numbers{1, 2, 0, 1, 2, 0, 1, 2}));
  EXPECT_EQ(padded("constant", {-1, 1}), (Numbers{1, 2, 9}));
  EXPECT_EQ(padded("reflect", {-1, 1}), (Numbers{1, 2, 1}));
}

TEST(Selection, TrianglesAndOneHot) {
  EXPECT_EQ(run("trilu", {iota({2, 2}), tensor(ir::kI64, {}, {-1})}, {{"upper", 0L}}).values,
            (Numbers{0, 0, 2, 0}));
  EXPECT_EQ(run("one_hot", {tensor(ir::kI64, {3}, {0, -1, 7}), tensor(ir::kF32, {2}, {2, 5})},
                {{"axis", 0L}, {"depth", 2L}}),
            (Evaluated{{2, 3}, {5, 2, 2, 2, 5, 2}}));
}

TEST(Selection, SequencesAndCaches) {
  EXPECT_EQ(run("reverse_sequence", {iota({3, 2}), tensor(ir::kI64, {2}, {2, 3})},
                {{"batch_axis", 1L}, {"time_axis", 0L}})
                .values,
            (Numbers{2, 5, 0, 3, 4, 1}));
  EXPECT_EQ(run("tensor_scatter",
                {iota({1, 3, 1}), tensor(ir::kF32, {1, 2, 1}, {7, 8}), tensor(ir::kI64, {1}, {2})},
                {{"axis", 1L}, {"mode", std::string("circular")}})
                .values,
            (Numbers{8, 1, 7}));
}

}  // namespace
}  // namespace attune::graph
