#include "compiler/kernel/kernel.h"

#include <gtest/gtest.h>

#include "compiler/ir/text/parse.h"
#include "targets/kinds.h"

namespace attune::kernel {
namespace {

// What depends on weights only is computed ahead of time, unless it is inlined.
constexpr const char* kDense = R"(program dense {
  input x: f32[8, 16]
  constant w: f32[16, 32]
  stage filter(k: 16, j: 32) = w[k, j] * 2.0f32
  stage anchor(i: 8, j: 32) = sum(k: 16) x[i, k] * filter[k, j]
  output anchor
}
)";

class KernelBuilder : public ::testing::Test {
 protected:
  Result<Built> built(const std::string& trace, const BuildOptions& options = {}) {
    return build(program_, schedule::parse_trace(trace).value(), target_, options);
  }
  static std::string error_of(const Result<Built>& result) {
    return result.ok() ? "" : result.error().message;
  }

  const ir::Program program_ = ir::parse_program(kDense).value();
  const target::Target target_ = targets::resolve({}).value();
};

TEST_F(KernelBuilder, NamesEveryParameter) {
  const Result<Built> result = built("inline filter\n");
  ASSERT_TRUE(result.ok()) << result.error().message;
  const std::vector<Parameter>& parameters = result->main.parameters;
  ASSERT_EQ(parameters.size(), 3U);
  EXPECT_EQ(parameters[0].kind, ParameterKind::Input);
  EXPECT_EQ(parameters[1].kind, ParameterKind::Constant);
  EXPECT_EQ(parameters[1].index, 1) << "inputs and constants are counted together";
  EXPECT_TRUE(parameters[1].is_input());
  EXPECT_EQ(parameters[2].kind, ParameterKind::Output);
  EXPECT_EQ(parameters[2].bytes(), 8 * 32 * 4);
  EXPECT_FALSE(result->lowered.prepare.has_value());
}

TEST_F(KernelBuilder, APreparationWritesWhatTheKernelReads) {
  const Result<Built> result = built("layout filter j k\n");
  ASSERT_TRUE(result.ok()) << result.error().message;
  ASSERT_TRUE(result->lowered.prepare.has_value());
  EXPECT_EQ(result->main.parameters[1].kind, ParameterKind::Prepared);
  const std::vector<Parameter>& prepared = result->lowered.prepare->parameters;
  ASSERT_EQ(prepared.size(), 2U);
  EXPECT_EQ(prepared[0].kind, ParameterKind::Constant);
  EXPECT_EQ(prepared[1].elements, 16 * 32);
  EXPECT_TRUE(compile(*result->lowered.prepare, target_).ok());
}

TEST_F(KernelBuilder, TheSameInputsGiveTheSameBytes) {
  const std::string trace = "split anchor j 8\nvectorize anchor j.1\nparallel anchor i\n";
  const auto linked = [&] {
    const Built result = built(trace).value();
    return link(std::span(&result.main.object, 1), target_).value();
  };
  EXPECT_EQ(linked(), linked());
}

TEST_F(KernelBuilder, ErrorsBeginWithTheStepThatFailed) {
  EXPECT_TRUE(error_of(built("vectorize anchor nothing\n")).starts_with("replay: "));
  EXPECT_TRUE(error_of(built("", {.limits = {.expressions = 3}})).starts_with("size: "));
}

TEST_F(KernelBuilder, SchedulesForOtherKindsOfTargetsAreRefused) {
  const target::Target launched = targets::resolve(targets::parse("sim").value()).value();
  const auto refused = [&](const std::string& trace, const target::Target& target) {
    const auto result = build(program_, schedule::parse_trace(trace).value(), target);
    EXPECT_FALSE(result.ok()) << trace;
    if (result.ok()) return std::string();
    EXPECT_EQ(result.error().hint,
              "the schedule is for another kind of target; leave it out, or tune for this one");
    return result.error().message;
  };
  const std::string before = "lower: line 1 of the trace: ", cpu =
                                                                 ", which programs for 'cpu' do "
                                                                 "not run on";
  EXPECT_EQ(refused("bind anchor i block.x\n", target_),
            before + "'bind anchor i block.x' is for blocks and threads" + cpu);
  EXPECT_EQ(refused("set_scope filter shared\n", target_),
            before + "'set_scope filter shared' is for blocks and threads" + cpu);
  EXPECT_EQ(refused("parallel anchor i\n", launched),
            before +
                "'parallel anchor i' is for cores that share a loop, which programs for 'sim' "
                "do not run on");
  EXPECT_TRUE(
      build(program_, schedule::parse_trace("bind anchor i block.x\n").value(), launched).ok());
}

TEST_F(KernelBuilder, WhatIsLateIsNotCompiled) {
  int asked = 0;
  const auto late = [&] { return ++asked > 0; };
  EXPECT_FALSE(built("", {.late = late}).ok());
  EXPECT_EQ(asked, 1);
}

TEST_F(KernelBuilder, SymbolsAreChosenByTheCaller) {
  EXPECT_EQ(built("").value().main.object.entry.symbol, "dense");
  EXPECT_EQ(built("", {.symbol = "dense_7"}).value().main.object.entry.symbol, "dense_7");
}

}  // namespace
}  // namespace attune::kernel
