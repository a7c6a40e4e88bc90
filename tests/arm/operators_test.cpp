// Every operator, compiled for ARM and run under an emulator, agrees with the interpreter: each
// algorithm's default schedule, on every core of arm_targets.h; and every element type. `./test
// arm` runs them all, other suites one.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "compiler/frontend/op_spec/op_spec.h"
#include "compiler/ops/element_types.h"
#include "tests/support/arm_targets.h"
#include "tests/support/emulated.h"
#include "tests/support/operator_specs.h"
#include "tests/support/run_scheduled.h"
#include "tuner/templates/templates.h"
#include "tuner/tunings/tunings.h"

namespace attune::test {
namespace {

// The first of them outside of ./test arm.
std::vector<const char*> chosen_specs() {
  const auto all = operator_specs();
  const std::size_t count = std::getenv("ATTUNE_ARM_ALL") != nullptr ? all.size() : 1;
  return {all.begin(), all.begin() + static_cast<std::ptrdiff_t>(count)};
}

class ArmOperators : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    if (const auto why = why_not_emulated()) GTEST_SKIP() << *why;
  }
  // The default schedule of one program of the task.
  void check(const op_spec::OpTask& task, const ir::Program& program, double tolerance,
             const Reference& reference, const target::Target& target) const {
    const schedule::Trace trace = tunings::default_trace(program, target);
    const Status status = check_trace(program, trace, target, reference, tolerance, Way::Emulated);
    EXPECT_TRUE(status.ok()) << task.spec << " on " << to_string(target) << ": "
                             << status.error().message << "\n"
                             << to_string(trace);
  }
};

TEST_P(ArmOperators, AgreeWithTheInterpreterByEveryAlgorithm) {
  for (const char* core : kArmCores) {
    const target::Target target = arm_target(core);
    const Result<op_spec::OpTask> task = op_spec::parse_op_spec(GetParam(), target);
    ASSERT_TRUE(task.ok()) << task.error().message;
    const Result<Reference> reference = make_reference(task->program, 1);
    ASSERT_TRUE(reference.ok()) << reference.error().message;
    check(*task, task->program, task->tolerance, *reference, target);
    for (const ops::AlgorithmDef& other : task->alternatives) {
      // Under the template that fits every program, unrolled transforms take minutes to compile.
      if (&templates::template_for(other.program) == &templates::all().back()) continue;
      check(*task, other.program, other.tolerance, *reference, target);
    }
  }
}

TEST_P(ArmOperators, AgreeWithTheInterpreterInEveryType) {
  const target::Target target = arm_target("neoverse-n1");
  for (const ir::DType type : ops::kAllTypes) {
    const Result<op_spec::OpTask> task =
        op_spec::parse_op_spec(fmt::format("{},dtype={}", GetParam(), to_string(type)), target);
    if (!task.ok()) continue;  // not defined for the type
    const Result<Reference> reference = make_reference(task->program, 1);
    ASSERT_TRUE(reference.ok()) << reference.error().message;
    check(*task, task->program, task->tolerance, *reference, target);
  }
}

INSTANTIATE_TEST_SUITE_P(All, ArmOperators, ::testing::ValuesIn(chosen_specs()),
                         [](const auto& test) { return test_name(test.param); });

}  // namespace
}  // namespace attune::test
