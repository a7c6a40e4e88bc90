#include "tuner/measure/builder/local_builder.h"
#include "compiler/kernel/kernel.h"
#include "targets/kinds.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <set>

#include "tuner/measure/builder/build_candidate.h"
#include "tuner/measure/builder/reference.h"
#include "tuner/tunings/tunings.h"

namespace attune::builder {
namespace {

using kernel::ParameterKind;

// C = A · W with constant weights that are transposed ahead of time.
ir::Program dense(std::int64_t m, std::int64_t n, std::int64_t k, bool wrong = false) {
  ir::Program program;
  program.name = "dense";
  const ir::Buffer a = ir::add_input(program, "A", ir::kF32, {m, k});
  const ir::Buffer w = ir::add_input(program, "W", ir::kF32, {k, n}, true);
  const ir::Axis i{"i", m}, j{"j", n}, r{"k", k};
  const ir::Buffer turned =
      ir::add_compute(program, "filter", {j, r}, ir::load(w, {axis_var(r), axis_var(j)}));
  const ir::Expr value = ir::load(a, {axis_var(i), axis_var(r)}) *
                         ir::load(turned, {axis_var(j), axis_var(r)}) *
                         ir::float_imm(wrong ? 1.01 : 1.0, ir::kF32);
  program.outputs = {ir::add_reduce(program, "anchor", {i, j}, {r}, ir::Reduction::Sum, value)};
  return program;
}

Result<target::Target> one_thread_target() {
  target::Target target;
  target.threads = 1;
  return targets::resolve(target);
}

measure::BuildRequest request_for(ir::Program program, std::string_view trace = "") {
  const auto parsed = schedule::parse_trace(trace);
  EXPECT_TRUE(parsed.ok()) << parsed.error().message;
  return {.candidate = {.trace = *parsed, .number = 7},
          .program = std::make_shared<const ir::Program>(std::move(program))};
}

std::string reason_of(const measure::BuiltCandidate& built) {
  const auto* failed = built.failure ? std::get_if<outcome::BuildFailed>(&*built.failure) : nullptr;
  return failed ? failed->reason : "";
}

class LocalBuilderTest : public testing::Test {
 protected:
  void SetUp() override {
    auto runner = tunings::tuning_of({}).start_runner({});
    ASSERT_TRUE(runner.ok()) << runner.error().message;
    runner_ = std::move(*runner);
    const auto target = one_thread_target();
    ASSERT_TRUE(target.ok()) << target.error().message;
    target_ = *target;
    builder_ = std::make_unique<LocalBuilder>(LocalBuilderOptions{.target = target_, .cores = {}});
  }

  std::vector<measure::RunResult> run(std::span<const measure::BuiltCandidate> built,
                                      const measure::Expectation& expectation,
                                      const measure::RunOptions& options = {}) {
    std::vector<measure::RunRequest> requests;
    for (const auto& candidate : built) requests.push_back({&candidate, 1e-4});
    auto results = runner_->measure(requests, expectation, options);
    EXPECT_TRUE(results.ok()) << results.error().message;
    return *results;
  }

  std::unique_ptr<measure::Runner> runner_;
  target::Target target_;
  std::unique_ptr<LocalBuilder> builder_;
};

TEST_F(LocalBuilderTest, BuildsRunsAndVerifiesWithPreparedConstants) {
  const ir::Program program = dense(9, 17, 33);
  const std::vector<measure::BuildRequest> requests = {
      request_for(program), request_for(program, "reorder anchor j i k\n")};
  const auto built = builder_->build(requests);
  ASSERT_EQ(built.size(), 2u);
  for (const auto& candidate : built) {
    ASSERT_FALSE(candidate.failure) << reason_of(candidate);
    EXPECT_EQ(candidate.number, 7);
    ASSERT_NE(candidate.prepare, nullptr);
    ASSERT_EQ(candidate.prepare->parameters.size(), 2u);
    EXPECT_EQ(candidate.prepare->parameters[0].kind, ParameterKind::Constant);
    EXPECT_EQ(candidate.prepare->parameters[0].index, 1);
    ASSERT_EQ(candidate.main->parameters.size(), 3u);
    EXPECT_EQ(candidate.main->parameters[0].kind, ParameterKind::Input);
    EXPECT_EQ(candidate.main->parameters[1].kind, ParameterKind::Prepared);
    EXPECT_EQ(candidate.main->parameters[2].kind, ParameterKind::Output);
    EXPECT_EQ(candidate.main->parameters[2].elements, 9 * 17);
  }
  EXPECT_EQ(built[0].prepare, built[1].prepare) << "one prepare kernel serves both";

  const auto expectation = builder_->expect(program, 42);
  ASSERT_TRUE(expectation.ok()) << expectation.error().message;
  EXPECT_EQ(expectation->elements.size(), 9u * 17u);
  for (const auto& result : run(built, *expectation)) {
    const auto* timing = std::get_if<outcome::Timing>(&result.outcome);
    ASSERT_NE(timing, nullptr) << outcome::describe(result.outcome);
    EXPECT_TRUE(timing->verified);
    EXPECT_GT(timing->best_us, 0.0);
  }
  const measure::RunRequest pair[] = {{built.data(), 1e-4}, {&built[1], 1e-4}};
  const auto compared =
      runner_->compare(pair, *expectation, {.compare_rounds = 2, .compare_round_ms = 0});
  ASSERT_TRUE(compared.ok());
  for (const auto& result : *compared) {
    EXPECT_TRUE(std::holds_alternative<outcome::Timing>(result.outcome))
        << outcome::describe(result.outcome);
  }
}

TEST_F(LocalBuilderTest, WrongAnswersAreFound) {
  const auto built = builder_->build(std::vector{request_for(dense(8, 8, 8, true))});
  const auto expectation = builder_->expect(dense(8, 8, 8), 1);
  ASSERT_TRUE(expectation.ok());
  const auto results = run(built, *expectation);
  EXPECT_TRUE(std::holds_alternative<outcome::WrongAnswer>(results[0].outcome))
      << outcome::describe(results[0].outcome);
}

TEST_F(LocalBuilderTest, ColdWeightsAreMeasuredCold) {
  const auto built = builder_->build(std::vector{request_for(dense(8, 8, 8))});
  const auto results = run(built, {.seed = 3, .elements = {}}, {.weights = records::Weights::Cold});
  const auto* timing = std::get_if<outcome::Timing>(&results[0].outcome);
  ASSERT_NE(timing, nullptr) << outcome::describe(results[0].outcome);
  EXPECT_TRUE(timing->cold_weights);
  EXPECT_FALSE(timing->verified);
}

TEST_F(LocalBuilderTest, FailuresSayWhichStepFailed) {
  const auto built =
      builder_->build(std::vector{request_for(dense(8, 8, 8), "vectorize anchor nothing\n")});
  ASSERT_TRUE(built[0].failure);
  EXPECT_EQ(outcome::phase_of(*built[0].failure), outcome::Phase::Build);
  EXPECT_TRUE(reason_of(built[0]).starts_with("replay: ")) << reason_of(built[0]);
  EXPECT_EQ(built[0].main, nullptr);
}

// C = A · B, `rows` x `vectors` vectors of C held in registers.
measure::BuildRequest register_tile(const target::Target& target, int rows, int vectors) {
  const int lanes = target.lanes(4);
  const std::int64_t m = 4 * rows;
  const std::int64_t n = 4 * vectors * lanes;
  ir::Program program;
  program.name = "matmul";
  const ir::Buffer a = ir::add_input(program, "A", ir::kF32, {m, 64});
  const ir::Buffer b = ir::add_input(program, "B", ir::kF32, {64, n});
  const ir::Axis i{"i", m}, j{"j", n}, k{"k", 64};
  program.outputs = {ir::add_reduce(
      program, "anchor", {i, j}, {k}, ir::Reduction::Sum,
      ir::load(a, {axis_var(i), axis_var(k)}) * ir::load(b, {axis_var(k), axis_var(j)}))};
  return request_for(program, fmt::format("cache_write anchor\n"
                                          "tile anchor i j {0} {1}\n"
                                          "compute_at cache.anchor anchor j.0\n"
                                          "split cache.anchor j {2}\n"
                                          "reorder cache.anchor k i j.0 j.1\n"
                                          "unroll cache.anchor i\n"
                                          "unroll cache.anchor j.0\n"
                                          "vectorize cache.anchor j.1\n"
                                          "set_scope cache.anchor register\n"
                                          "split anchor j.1 {2}\n"
                                          "unroll anchor i.1\n"
                                          "unroll anchor j.1.0\n"
                                          "vectorize anchor j.1.1\n",
                                          rows, vectors * lanes, lanes));
}

TEST(BuildCandidateTest, SpillsFailTheBuildUnlessAccepted) {
  const auto target = one_thread_target();
  ASSERT_TRUE(target.ok());
  PrepareCache cache;
  // More accumulators than any machine has registers.
  auto request = register_tile(*target, 12, 4);
  const auto refused = build_candidate(request, *target, {.vector_spills = 4}, cache);
  ASSERT_TRUE(refused.failure);
  EXPECT_TRUE(reason_of(refused).starts_with("spills: ")) << reason_of(refused);
  request.whatever_it_costs = true;
  EXPECT_FALSE(build_candidate(request, *target, {.vector_spills = 4}, cache).failure);
  const auto small =
      build_candidate(register_tile(*target, 4, 2), *target, {.vector_spills = 4}, cache);
  EXPECT_FALSE(small.failure) << reason_of(small);
}

TEST(BuildCandidateTest, SizeFailsTheBuildUnlessAccepted) {
  const auto target = one_thread_target();
  ASSERT_TRUE(target.ok());
  PrepareCache cache;
  auto request = register_tile(*target, 4, 2);
  const auto refused = build_candidate(request, *target, {.expressions = 10}, cache);
  ASSERT_TRUE(refused.failure);
  EXPECT_TRUE(reason_of(refused).starts_with("size: ")) << reason_of(refused);
  request.whatever_it_costs = true;
  EXPECT_FALSE(build_candidate(request, *target, {.expressions = 10}, cache).failure);
}

// No build takes less than a nanosecond.
TEST(BuildCandidateTest, SlowBuildsTimeOutUnlessAccepted) {
  const auto target = one_thread_target();
  ASSERT_TRUE(target.ok());
  PrepareCache cache;
  auto request = register_tile(*target, 4, 2);
  request.timeout_ms = 1e-6;
  const auto late = build_candidate(request, *target, {}, cache);
  ASSERT_TRUE(late.failure);
  EXPECT_EQ(outcome::describe(*late.failure),
            "timed out in build: building takes more than 1e-06 ms");
  EXPECT_EQ(std::get<outcome::TimedOut>(*late.failure).limit_ms, 1e-6);
  EXPECT_EQ(late.main, nullptr);
  EXPECT_EQ(late.codegen_ms, 0) << "nothing is compiled any more";
  request.timeout_ms = 1e9;
  EXPECT_FALSE(build_candidate(request, *target, {}, cache).failure);
  request.timeout_ms = 1e-6;
  request.whatever_it_costs = true;
  EXPECT_FALSE(build_candidate(request, *target, {}, cache).failure);
}

TEST(SamplePlacesTest, HoldsCornersAndBordersWithoutRepetition) {
  const std::vector<std::int64_t> shape = {64, 100};
  const auto places = sample_places(shape, 100, 1);
  const std::set<std::vector<std::int64_t>> distinct(places.begin(), places.end());
  EXPECT_EQ(distinct.size(), places.size());
  EXPECT_LE(places.size(), 120u);
  for (const std::int64_t i : {0, 63}) {
    for (const std::int64_t j : {0, 99}) EXPECT_TRUE(distinct.count({i, j}));
  }
  int inside = 0;
  for (const auto& place : places) {
    inside += place[0] > 0 && place[0] < 63 && place[1] > 0 && place[1] < 99;
  }
  EXPECT_GE(inside, 30);
  EXPECT_EQ(sample_places({3, 4}, 100, 1).size(), 12u);
  EXPECT_EQ(sample_places({}, 100, 1).size(), 1u);
  EXPECT_TRUE(sample_places({0, 4}, 100, 1).empty());
}

}  // namespace
}  // namespace attune::builder
