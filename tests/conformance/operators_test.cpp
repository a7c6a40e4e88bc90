// Every operator, on sizes that divide nothing, agrees with the interpreter: its default schedule
// and a few random ones, each algorithm, with 32-byte vectors and with this machine's own.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "compiler/frontend/op_spec/op_spec.h"
#include "compiler/ops/forms/family.h"
#include "targets/kinds.h"
#include "tests/support/operator_specs.h"
#include "tests/support/run_scheduled.h"
#include "tuner/space/template_space.h"
#include "tuner/templates/templates.h"

namespace attune::test {
namespace {

// The machine's own target, and one with vectors of 32 bytes where the machine can run that.
std::vector<target::Target> targets() {
  std::vector<target::Target> found;
  target::Target own;
  own.threads = 2;
  found.push_back(targets::resolve(own).value());
  target::Target narrow = own;
  narrow.set("mcpu", "haswell");
  const Result<target::Target> resolved = targets::resolve(narrow);
  if (resolved.ok() && found[0].vector_bytes > resolved->vector_bytes) found.push_back(*resolved);
  return found;
}

// The program that a trace of the point acts on.
const ir::Program& program_of(const op_spec::OpTask& task, const schedule::Trace& trace) {
  if (trace.empty()) return task.program;
  const auto* algorithm = std::get_if<schedule::Algorithm>(&trace.front());
  if (algorithm == nullptr) return task.program;
  for (const ops::AlgorithmDef& candidate : task.alternatives) {
    if (candidate.name == algorithm->name) return candidate.program;
  }
  return task.program;
}

double tolerance_of(const op_spec::OpTask& task, const ir::Program& program) {
  for (const ops::AlgorithmDef& candidate : task.alternatives) {
    if (&candidate.program == &program) return candidate.tolerance;
  }
  return task.tolerance;
}

// The direct program, and the algorithms that have a template of their own: under the one that fits
// every program, the unrolled transforms of Winograd take minutes to compile.
space::TemplateSpace space_of(const op_spec::OpTask& task, const target::Target& target) {
  std::vector<space::NamedProgram> programs{{"direct", task.program}};
  for (const ops::AlgorithmDef& candidate : task.alternatives) {
    if (&templates::template_for(candidate.program) == &templates::all().back()) continue;
    programs.push_back({candidate.name, candidate.program});
  }
  return space::TemplateSpace(std::move(programs), templates::all(), target);
}

void check_point(const op_spec::OpTask& task, const space::Space& space, const space::Point& point,
                 const Reference& reference) {
  const schedule::Trace trace = space.trace_of(point);
  const ir::Program& program = program_of(task, trace);
  for (const Way way : {Way::Interpreted, Way::Compiled}) {
    const Status status =
        check_trace(program, trace, space.target(), reference, tolerance_of(task, program), way);
    EXPECT_TRUE(status.ok()) << task.spec << " " << space.to_string(point) << " on "
                             << to_string(space.target())
                             << (way == Way::Compiled ? " compiled: " : " interpreted: ")
                             << status.error().message << "\n"
                             << to_string(trace);
  }
}

class Operators : public ::testing::TestWithParam<const char*> {};

TEST_P(Operators, DefaultsAndRandomSchedulesAgreeWithTheInterpreter) {
  for (const target::Target& target : targets()) {
    const Result<op_spec::OpTask> task = op_spec::parse_op_spec(GetParam(), target);
    ASSERT_TRUE(task.ok()) << task.error().message;
    const Result<Reference> reference = make_reference(task->program, 1);
    ASSERT_TRUE(reference.ok()) << reference.error().message;
    const space::TemplateSpace space = space_of(*task, target);
    for (const space::Point& point : space.defaults()) {
      check_point(*task, space, point, *reference);
    }
    Rng rng(7);
    int checked = 0;
    for (int tries = 0; tries < 200 && checked < 4; ++tries) {
      const space::Point point = space.sample(rng);
      if (!space.schedule_of(point).ok()) continue;
      check_point(*task, space, point, *reference);
      ++checked;
    }
    EXPECT_GT(checked, 0) << "no random schedule was legal on " << to_string(target);
  }
}

INSTANTIATE_TEST_SUITE_P(All, Operators, ::testing::ValuesIn(operator_specs()),
                         [](const auto& test) { return test_name(test.param); });

// The table leaves nobody out.
TEST(OperatorTable, HoldsEveryFamily) {
  const auto specs = operator_specs();
  for (const ops::Family& family : ops::families()) {
    const bool listed = std::any_of(specs.begin(), specs.end(), [&](const char* spec) {
      return std::string(spec).rfind(family.name + ":", 0) == 0;
    });
    EXPECT_TRUE(listed) << "operator '" << family.name << "' is not in the table of specs";
  }
}

}  // namespace
}  // namespace attune::test
