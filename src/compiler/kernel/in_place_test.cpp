#include "compiler/kernel/in_place.h"

#include <gtest/gtest.h>

#include "compiler/ir/text/parse.h"

namespace attune::kernel {
namespace {

std::vector<bool> found(const std::string& program, const std::string& trace = "") {
  return inputs_in_place(ir::parse_program(program).value(), schedule::parse_trace(trace).value());
}

constexpr const char* kResidual = R"(program p {
  input x: f32[8, 16]
  constant w: f32[16, 32]
  input r: f32[8, 32]
  stage anchor(i: 8, j: 32) = sum(k: 16) x[i, k] * w[k, j]
  stage added(i: 8, j: 32) = anchor[i, j] + r[i, j]
  stage result(i: 8, j: 32) = max(added[i, j], 0.0f32)
  output result
}
)";

TEST(InPlace, AResidualMayLieWhereTheOutputDoes) {
  EXPECT_EQ(found(kResidual), (std::vector{false, false, true}));
}

TEST(InPlace, ADimensionOfOneElementHasNoOther) {
  EXPECT_EQ(found(R"(program p {
  input x: f32[1, 8]
  input y: f32[2, 8]
  stage result(i: 1, j: 8) = x[0, j] + y[0, j]
  output result
}
)"),
            (std::vector{true, false}));
}

TEST(InPlace, WhatIsWrittenAheadOfTimeLeavesNothingToRead) {
  EXPECT_EQ(found(kResidual, "annotate anchor i claim stores\n"),
            (std::vector{false, false, false}));
}

TEST(InPlace, ElementsThatOthersNeedStay) {
  EXPECT_EQ(found(R"(program p {
  input x: f32[8, 8]
  input y: f32[8, 8]
  input z: f32[8, 8]
  stage sums(i: 8) = sum(j: 8) z[i, j]
  stage result(i: 8, j: 8) = x[i, j] * y[j, i] + z[i, j] * sums[i]
  output result
}
)"),
            (std::vector{true, false, false}));
}

TEST(InPlace, OtherShapesAndTypesHaveOtherMemory) {
  EXPECT_EQ(found(R"(program p {
  input x: f32[8, 1]
  input y: i32[8, 8]
  stage result(i: 8, j: 8) = x[i, 0] + cast<f32>(y[i, j])
  output result
}
)"),
            (std::vector{false, false}));
}

}  // namespace
}  // namespace attune::kernel
