// What lowering makes of small schedules. Each tests/golden/lowering/NAME.trace holds an operator
// spec and a trace; NAME.loops holds the kernels that come of them, and is written by
// ./test golden --update. Every case must agree with the interpreter as well.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "compiler/frontend/op_spec/op_spec.h"
#include "compiler/ir/text/print.h"
#include "compiler/lower/lower.h"
#include "tests/support/golden.h"
#include "tests/support/run_scheduled.h"

namespace attune::test {
namespace {

std::vector<std::string> case_names() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(golden_directory() / "lowering")) {
    if (entry.path().extension() == ".trace") names.push_back(entry.path().stem());
  }
  std::sort(names.begin(), names.end());
  return names;
}

class Lowering : public ::testing::TestWithParam<std::string> {};

TEST_P(Lowering, MakesTheseLoops) {
  std::ifstream file(golden_directory() / "lowering" / (GetParam() + ".trace"));
  std::string spec;
  std::getline(file, spec);
  std::ostringstream steps;
  steps << file.rdbuf();

  target::Target target;  // not this machine's: vectors of 32 bytes everywhere
  target.threads = 1;
  const Result<op_spec::OpTask> task = op_spec::parse_op_spec(spec, target);
  ASSERT_TRUE(task.ok()) << task.error().message;
  const Result<schedule::Trace> trace = schedule::parse_trace(steps.str());
  ASSERT_TRUE(trace.ok()) << trace.error().message;
  const Result<schedule::State> state = schedule::replay(task->program, *trace);
  ASSERT_TRUE(state.ok()) << state.error().message;
  const Result<lower::Lowered> lowered = lower::lower(*state);
  ASSERT_TRUE(lowered.ok()) << lowered.error().message;

  std::string text;
  if (lowered->prepare) text += to_string(*lowered->prepare) + "\n";
  text += to_string(lowered->main);
  EXPECT_TRUE(matches_golden("lowering/" + GetParam() + ".loops", text));

  const Result<Reference> reference = make_reference(task->program, 1);
  ASSERT_TRUE(reference.ok()) << reference.error().message;
  const Status agrees =
      check_trace(task->program, *trace, target, *reference, task->tolerance, Way::Interpreted);
  EXPECT_TRUE(agrees.ok()) << agrees.error().message;
}

INSTANTIATE_TEST_SUITE_P(Cases, Lowering, ::testing::ValuesIn(case_names()),
                         [](const auto& test) { return test.param; });

}  // namespace
}  // namespace attune::test
