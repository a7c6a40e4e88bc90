// Every operator on blocks and threads, on sizes that divide nothing: the default schedule of each
// algorithm and random ones compute what the interpreter does, and nothing is found wrong with
// their launches.
#include <gtest/gtest.h>

#include <string>

#include "compiler/frontend/op_spec/op_spec.h"
#include "targets/kinds.h"
#include "tests/support/operator_specs.h"
#include "tests/support/run_scheduled.h"
#include "tuner/space/template_space.h"
#include "tuner/tunings/tunings.h"

namespace attune::test {
namespace {

constexpr int kRandom = 2;  // schedules of each algorithm

struct Form {
  std::string algorithm;
  const ir::Program& program;
  double tolerance;
};

std::vector<Form> forms_of(const op_spec::OpTask& task) {
  std::vector<Form> forms{{"direct", task.program, task.tolerance}};
  for (const ops::AlgorithmDef& each : task.alternatives) {
    forms.push_back({each.name, each.program, each.tolerance});
  }
  return forms;
}

void check_form(const Form& form, const target::Target& target, const Reference& reference) {
  const space::TemplateSpace space({{"direct", form.program}},
                                   tunings::tuning_of(target).templates(), target);
  const auto check = [&](const space::Point& point) {
    const schedule::Trace trace = space.trace_of(point);
    const Status status =
        check_trace(form.program, trace, target, reference, form.tolerance, Way::Launched);
    EXPECT_TRUE(status.ok()) << form.algorithm << " " << space.to_string(point) << ": "
                             << status.error().message << "\n"
                             << to_string(trace);
  };
  for (const space::Point& point : space.defaults()) {
    const auto scheduled = space.schedule_of(point);
    EXPECT_TRUE(scheduled.ok()) << form.algorithm << ": " << scheduled.error().message;
    if (scheduled.ok()) check(point);
  }
  Rng rng(7);
  int checked = 0;
  for (int tries = 0; tries < 400 && checked < kRandom; ++tries) {
    const space::Point point = space.sample(rng);
    if (!space.schedule_of(point).ok()) continue;
    check(point);
    ++checked;
  }
  EXPECT_GT(checked, 0) << "no random schedule of " << form.algorithm << " was legal";
}

class LaunchForms : public ::testing::TestWithParam<const char*> {};

TEST_P(LaunchForms, AgreeWithTheInterpreter) {
  const target::Target target = targets::resolve(targets::parse("sim").value()).value();
  const Result<op_spec::OpTask> task = op_spec::parse_op_spec(GetParam(), target);
  ASSERT_TRUE(task.ok()) << task.error().message;
  const Result<Reference> reference = make_reference(task->program, 1);
  ASSERT_TRUE(reference.ok()) << reference.error().message;
  for (const Form& form : forms_of(*task)) check_form(form, target, *reference);
}

INSTANTIATE_TEST_SUITE_P(All, LaunchForms, ::testing::ValuesIn(operator_specs()),
                         [](const auto& test) { return test_name(test.param); });

}  // namespace
}  // namespace attune::test
