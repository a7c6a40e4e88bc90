// Programs for the simulated device: what the template makes of them, and what measuring says.
#include "tuner/tuning/tuning.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "compiler/ir/text/parse.h"
#include "compiler/kernel/kernel.h"
#include "compiler/schedule/trace.h"
#include "targets/kinds.h"
#include "targets/sim/tuning/runner.h"
#include "tuner/cost_model/launches/launch_model.h"
#include "tuner/space/template_space.h"
#include "tuner/templates/launches/launches.h"

namespace attune::sim {
namespace {

constexpr const char* kProduct = R"(program product {
  input a: f32[32, 24]
  input b: f32[24, 40]
  stage anchor(i: 32, j: 40) = sum(k: 24) a[i, k] * b[k, j]
  stage 'output'(i: 32, j: 40) = anchor[i, j] + 1.0f32
  output 'output'
}
)";

target::Target target_of(const std::string& text) {
  return targets::resolve(targets::parse(text).value()).value();
}

// The schedule without tuning, of the first template that fits.
schedule::Trace default_trace(const ir::Program& program, const target::Target& target) {
  const auto all = templates::launches();
  space::Findings findings;
  const auto found = std::find_if(all.begin(), all.end(), [&](const space::Template& each) {
    return each.fits_on({program, findings}, target);
  });
  return space::default_trace(*found, program, target);
}

measure::KernelCode code_of(const ir::Program& program, const schedule::Trace& trace,
                            const target::Target& target) {
  kernel::Built built = kernel::build(program, trace, target).value();
  measure::KernelCode code;
  auto bytes = kernel::link(std::span(&built.main.object, 1), target).value();
  code.object = std::make_shared<const std::vector<std::byte>>(std::move(bytes));
  code.symbol = built.main.object.entry.symbol;
  code.parameters = built.main.parameters;
  return code;
}

class SimTuning : public ::testing::Test {
 protected:
  outcome::Outcome measured(const schedule::Trace& trace, const measure::Expectation& expected,
                            const measure::RunOptions& options = {}) {
    measure::BuiltCandidate candidate;
    candidate.main = std::make_shared<measure::KernelCode>(code_of(program_, trace, target_));
    auto runner = start_runner(target_).value();
    const measure::RunRequest request{&candidate, 1e-3};
    return runner->measure(std::span(&request, 1), expected, options).value().front().outcome;
  }
  double time_us(const std::string& trace) {
    const auto outcome = measured(schedule::parse_trace(trace).value(), {});
    return std::get<outcome::Timing>(outcome).best_us;
  }

  const target::Target target_ = target_of("sim");
  const ir::Program program_ = ir::parse_program(kProduct).value();
};

TEST_F(SimTuning, TheDefaultFetchesOperandsTogether) {
  const std::string trace = schedule::to_string(default_trace(program_, target_));
  for (const char* step : {"set_scope cache.a shared", "set_scope cache.b shared",
                           "set_scope anchor register", "thread.y", "block.x"}) {
    EXPECT_NE(trace.find(step), std::string::npos) << step << " in\n" << trace;
  }
}

// A device with hardly any shared memory gets a schedule that does without.
TEST_F(SimTuning, SchedulesFitTheDevice) {
  const target::Target small = target_of("sim -shared_kb=1 -threads_per_block=64");
  const auto trace = default_trace(program_, small);
  EXPECT_TRUE(kernel::build(program_, trace, small).ok());
  const space::TemplateSpace space({{"direct", program_}}, templates::launches(), small);
  Rng rng(3);
  // Most tiles are too large for it, and are rejected.
  int built = 0;
  for (int i = 0; i < 400; ++i) {
    const space::Point point = space.sample(rng);
    if (!space.schedule_of(point).ok()) continue;
    const auto kernel = kernel::build(program_, space.trace_of(point), small);
    EXPECT_TRUE(kernel.ok()) << kernel.error().message << "\n" << space.to_string(point);
    ++built;
  }
  EXPECT_GT(built, 5);
}

TEST_F(SimTuning, CountsTheSameTimeEveryTime) {
  const std::string one = "bind output i block.x\ncompute_at anchor output i\n";
  const std::string many =
      "split output j 10\nreorder output i j.0 j.1\nbind output i block.x\n"
      "bind output j.1 thread.x\ncompute_at anchor output j.1\nset_scope anchor register\n";
  EXPECT_EQ(time_us(many), time_us(many));
  EXPECT_LT(time_us(many), time_us(one));
  const cost_model::LaunchModel prior(target_);
  const auto predicted = [&](const std::string& text) {
    schedule::State state = schedule::replay(program_, schedule::parse_trace(text).value()).value();
    auto bounds = schedule::infer_bounds(state, schedule::Mins::Leave).value();
    return prior.predict_us({std::move(state), std::move(bounds)});
  };
  EXPECT_LT(predicted(many), predicted(one));
}

TEST_F(SimTuning, AWrongAnswerIsNoTiming) {
  measure::Expectation expected{.seed = 1, .elements = {{0, 7, 1e6}}, .magnitude = 1e6};
  const auto trace = default_trace(program_, target_);
  EXPECT_EQ(outcome::kind_of(measured(trace, expected)), "wrong_answer");
  expected.elements.clear();
  EXPECT_EQ(outcome::kind_of(measured(trace, expected)), "timing");
}

TEST_F(SimTuning, WhatTakesTooLongTimesOut) {
  const auto trace = default_trace(program_, target_);
  const auto outcome = measured(trace, {}, {.timeout_ms = 0.01});
  ASSERT_EQ(outcome::kind_of(outcome), "timed_out");
  EXPECT_EQ(std::get<outcome::TimedOut>(outcome).limit_ms, 0.01);
}

// Memory that runs out is another thing than time.
TEST_F(SimTuning, WhatDoesNotFitIsNotSlow) {
  const auto trace = default_trace(program_, target_);
  auto code = std::make_shared<measure::KernelCode>(code_of(program_, trace, target_));
  code->parameters[0].elements = std::int64_t{1} << 31;
  measure::BuiltCandidate candidate;
  candidate.main = code;
  const measure::RunRequest request{&candidate, 1e-3};
  auto runner = start_runner(target_).value();
  const auto results = runner->measure(std::span(&request, 1), {}, {}).value();
  EXPECT_EQ(outcome::kind_of(results.front().outcome), "run_crashed");
}

}  // namespace
}  // namespace attune::sim
