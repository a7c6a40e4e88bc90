// Every operator of the list on every target that can run here: each sample call, compiled by the
// way of every model with its default schedules, gives what the interpreter gives, and so do random
// legal schedules of its kernels; other algorithms of a kernel give what its direct form gives. By
// itself the test takes one type and target for each line of samples, another for the next;
// ATTUNE_CONFORMANCE=all takes all of them (./test conformance), the text of a target, such as
// cuda, one type of each line on it (./test device), ATTUNE_CONFORMANCE=arm the same on ARM's cores
// in turn, under an emulator, and ATTUNE_CONFORMANCE=all_on_arm all types (./test arm).
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <span>
#include <string>

#include "compiler/ir/interpret/interpret.h"
#include "compiler/ops/element_types.h"
#include "tests/support/arm_targets.h"
#include "tests/support/conformance_targets.h"
#include "tests/support/emulated.h"
#include "tests/support/operator_samples.h"
#include "tuner/space/template_space.h"
#include "tuner/tunings/tunings.h"

namespace attune::test {
namespace {

// "all", "arm", "all_on_arm", the text of a target, or nothing.
std::string_view wanted() {
  const char* what = std::getenv("ATTUNE_CONFORMANCE");
  return what == nullptr ? std::string_view() : what;
}
bool is_wanted(std::string_view what) { return wanted() == what; }
bool is_full() { return is_wanted("all"); }

// Random schedules per kernel, and how many points may be tried for them.
int wanted_schedules() { return is_full() ? 3 : 1; }
constexpr int kTries = 400;

// Between the types of a sample the coarsest decides; f64 is computed as such.
double tolerance_of(const Sample& sample, const std::vector<ops::ConstantPtr>& outputs) {
  double tolerance = 0;
  const auto widen = [&](const ops::ConstantPtr& value) {
    if (value == nullptr) return;
    const ir::DType type = value->type.dtype;
    tolerance = std::max(tolerance, type == ir::kF64 ? 1e-9 : ops::tolerance_of(type));
  };
  for (const ops::ConstantPtr& operand : sample.operands) widen(operand);
  for (const ops::ConstantPtr& output : outputs) widen(output);
  return tolerance;
}

std::vector<space::NamedProgram> programs_of(const graph::Task& task,
                                             const target::Target& target) {
  std::vector<space::NamedProgram> programs{{"direct", task.op.program}};
  for (const ops::AlgorithmDef& other : task.op.alternatives) {
    // Under the template that fits everything, the unrolled transforms of Winograd compile for
    // minutes.
    const auto templates = tunings::tuning_of(target).templates();
    if (templates.size() > 1 &&
        &tunings::template_for(other.program, target) == &templates.back()) {
      continue;
    }
    programs.push_back({other.name, other.program});
  }
  return programs;
}

const ops::AlgorithmDef* algorithm_of(const graph::Task& task, const schedule::Trace& trace) {
  const auto* step = trace.empty() ? nullptr : std::get_if<schedule::Algorithm>(&trace.front());
  if (step == nullptr) return nullptr;
  const auto& all = task.op.alternatives;
  const auto found = std::find_if(
      all.begin(), all.end(), [&](const ops::AlgorithmDef& one) { return one.name == step->name; });
  return found == all.end() ? nullptr : &*found;
}

// Every other algorithm of the task gives what its direct program gives.
void check_algorithms(const graph::Task& task, const Reference& reference) {
  const ops::ConstantPtr expected = ops::make_constant(reference.outputs[0]);
  for (const ops::AlgorithmDef& other : task.op.alternatives) {
    const auto found = ir::interpret(other.program, reference.inputs);
    ASSERT_TRUE(found.ok()) << task.name << " by " << other.name << ": " << found.error().message;
    EXPECT_EQ(difference_of({expected}, {ops::make_constant((*found)[0])}, other.tolerance), "")
        << task.name << " by " << other.name;
  }
}

// How many random schedules of the task were legal and agree; why the last one was not.
int check_random_schedules(const graph::Task& task, const Reference& reference,
                           const ConformanceTarget& target, std::string& rejection) {
  const space::TemplateSpace space(programs_of(task, target.target),
                                   tunings::tuning_of(target.target).templates(), target.target);
  Rng rng(7);
  int checked = 0;
  for (int tries = 0; tries < kTries && checked < wanted_schedules(); ++tries) {
    const space::Point point = space.sample(rng);
    if (const auto scheduled = space.schedule_of(point); !scheduled.ok()) {
      rejection = scheduled.error().message;
      continue;
    }
    const schedule::Trace trace = space.trace_of(point);
    const ops::AlgorithmDef* other = algorithm_of(task, trace);
    const Status status =
        target.check(other != nullptr ? other->program : task.op.program, trace, reference,
                     other != nullptr ? other->tolerance : task.op.tolerance);
    EXPECT_TRUE(status.ok()) << task.name << " " << space.to_string(point) << ": "
                             << status.error().message << "\n"
                             << to_string(trace);
    ++checked;
  }
  return checked;
}

void check_sample(const Sample& sample, const ConformanceTarget& target) {
  SCOPED_TRACE(sample.text + " on " + target.name);
  const Result<graph::Graph> graph = graph_of(sample);
  ASSERT_TRUE(graph.ok()) << graph.error().message;
  const auto expected = meaning_of(sample);
  ASSERT_TRUE(expected.ok()) << expected.error().message;
  if (graph->nodes.empty()) {  // no operand or no result has an element: it is known already
    std::vector<ops::ConstantPtr> found;
    for (const graph::ValueId id : graph->outputs) found.push_back(graph->value(id).constant);
    EXPECT_EQ(difference_of(*expected, found, 0), "");
    return;
  }
  const Result<GraphRun> run = target.run(*graph, inputs_of(sample));
  ASSERT_TRUE(run.ok()) << run.error().message;
  EXPECT_EQ(difference_of(*expected, run->outputs, tolerance_of(sample, *expected)), "");
  for (const graph::Task& task : run->tasks) {
    // Positive numbers: what divides by zero has no meaning to compare.
    const Result<Reference> reference = make_reference(task.op.program, 1, {0.25, 1, 1, 7});
    ASSERT_TRUE(reference.ok()) << task.name << ": " << reference.error().message;
    check_algorithms(task, *reference);
    std::string rejection;
    EXPECT_GT(check_random_schedules(task, *reference, target, rejection), 0)
        << "no random schedule of '" << task.name << "' was legal: " << rejection;
  }
}

// Of each line one sample on one target, types and targets in turn.
void check_some(const std::vector<Sample>& samples, std::span<const ConformanceTarget> targets) {
  for (std::size_t begin = 0, end = 0; begin < samples.size(); begin = end) {
    while (end < samples.size() && samples[end].line == samples[begin].line) ++end;
    const auto line = static_cast<std::size_t>(samples[begin].line);
    check_sample(samples[begin + line % (end - begin)], targets[line % targets.size()]);
  }
}

// On ARM's cores in turn.
void check_on_arm(const std::vector<Sample>& samples) {
  const std::vector<ConformanceTarget>& cores = arm_targets();
  if (!is_wanted("all_on_arm")) return check_some(samples, cores);
  for (std::size_t i = 0; i < samples.size(); ++i) {
    check_sample(samples[i], cores[i % cores.size()]);
  }
}

class EveryOperator : public ::testing::TestWithParam<std::string_view> {};

TEST_P(EveryOperator, MeansTheSameOnEveryTarget) {
  const std::vector<Sample> samples = samples_of(GetParam());
  ASSERT_FALSE(samples.empty()) << "operator '" << GetParam()
                                << "' has no line in tests/conformance/operators.txt";
  if (is_wanted("arm") || is_wanted("all_on_arm")) {
    if (const auto why = why_not_emulated()) GTEST_SKIP() << *why;
    return check_on_arm(samples);
  }
  if (!is_full() && !wanted().empty()) {
    const auto target = conformance_target(wanted());
    if (!target.ok()) GTEST_SKIP() << wanted() << " cannot run here: " << target.error().message;
    return check_some(samples, {&*target, 1});
  }
  if (!is_full()) return check_some(samples, conformance_targets());
  for (const ConformanceTarget& target : conformance_targets()) {
    for (const Sample& sample : samples) check_sample(sample, target);
  }
}

std::vector<std::string_view> names() {
  std::vector<std::string_view> all;
  for (const ops::OpDef& def : ops::operators()) all.push_back(def.name);
  return all;
}

INSTANTIATE_TEST_SUITE_P(All, EveryOperator, ::testing::ValuesIn(names()),
                         [](const auto& test) { return std::string(test.param); });

}  // namespace
}  // namespace attune::test
