#include "tuner/cost_model/analytic.h"

#include <gtest/gtest.h>

#include "tuner/space/sample_template_testing.h"

namespace attune::cost_model {
namespace {

using space::TemplateSpace;

Prediction predicted(const TemplateSpace& space, const std::string& config,
                     const target::Target& target = space::sample_target()) {
  const space::Point point{0, space::parse_config(space.knobs(0), config).value()};
  const auto scheduled = space.schedule_of(point);
  EXPECT_TRUE(scheduled.ok()) << config;
  return predict(*scheduled, target);
}

double share_of_peak(const TemplateSpace& space, double flops, const std::string& config) {
  return flops / (2 * 8 * 2 * 3.3e3) / predicted(space, config).us;
}

TEST(AnalyticModel, GoodTilesComeNearThePeakAndBadOnesDoNot) {
  const TemplateSpace space = space::sample_space(96, 96, 256);
  const double flops = 2.0 * 96 * 96 * 256;
  EXPECT_GT(share_of_peak(space, flops, "rows=4 vectors=3 steps=4 pack=1"), 0.75);
  EXPECT_GT(share_of_peak(space, flops, "rows=6 vectors=2 steps=4 pack=1"), 0.75);
  EXPECT_LT(share_of_peak(space, flops, "rows=4 vectors=3 steps=4 pack=1"), 1.0);
  EXPECT_LT(share_of_peak(space, flops, "rows=2 vectors=1 steps=4 pack=1"), 0.35);
  EXPECT_LT(share_of_peak(space, flops, "rows=12 vectors=1 steps=4 pack=1"), 0.75);
}

TEST(AnalyticModel, TilesRankAsMeasured) {
  const TemplateSpace space = space::sample_space(96, 96, 256);
  const auto us = [&](const char* config) { return predicted(space, config).us; };
  const double best = us("rows=4 vectors=3 steps=4 pack=1");
  EXPECT_LT(best, us("rows=8 vectors=1 steps=4 pack=1"));
  EXPECT_LT(best, us("rows=12 vectors=1 steps=4 pack=1"));
  EXPECT_LT(best, us("rows=4 vectors=2 steps=4 pack=1"));
  EXPECT_LT(us("rows=4 vectors=2 steps=4 pack=1"), us("rows=2 vectors=2 steps=4 pack=1"));
}

TEST(AnalyticModel, LargeOperandsCostTraffic) {
  const TemplateSpace small = space::sample_space(96, 96, 64);
  const TemplateSpace large = space::sample_space(2048, 2048, 2048);
  const std::string config = "rows=4 vectors=3 steps=4 pack=1";
  const auto anchor = [](const Prediction& p) { return p.stages[p.stages.size() - 2]; };
  EXPECT_EQ(anchor(predicted(small, config)).dram_us, 0);
  EXPECT_GT(anchor(predicted(large, config)).dram_us, 0);
  EXPECT_GT(anchor(predicted(large, config)).l2_us, anchor(predicted(small, config)).l2_us);
}

// Five rows as three and two: the right operand is read twice, all of it.
TEST(AnalyticModel, APartOfATileLoadsTheOtherOperandWhole) {
  const TemplateSpace space = space::sample_space(5, 4096, 4096);
  const auto dram_us = [&](const std::string& config) {
    const Prediction p = predicted(space, config);
    return p.stages[p.stages.size() - 2].dram_us;
  };
  const double once = dram_us("rows=5 vectors=2 steps=4 pack=0");
  EXPECT_GT(once, 0);
  EXPECT_NEAR(dram_us("rows=3 vectors=2 steps=4 pack=0") / once, 2, 0.05);
}

TEST(AnalyticModel, PaddedBlocksAreLoadedWhole) {
  const auto dram_us = [](std::int64_t columns) {
    const Prediction p =
        predicted(space::sample_space(2, columns, 1 << 19), "rows=2 vectors=6 steps=4 pack=1");
    return p.stages[p.stages.size() - 2].dram_us;
  };
  EXPECT_GT(dram_us(100), 0);
  EXPECT_NEAR(dram_us(100) / dram_us(144), 1, 0.02);
}

// The time of a sum over steps that read `at`, which lie in [0, size) where they count.
double sum_us(const std::vector<ir::Axis>& axes, const std::vector<ir::Axis>& steps,
              const ir::Expr& at, std::int64_t size) {
  ir::Program program{"neighbours", {}, {}, {}};
  const ir::Buffer a = ir::add_input(program, "a", ir::kF32, {size, 64});
  const ir::Buffer b = ir::add_input(program, "b", ir::kF32, {steps.back().extent, 64});
  const ir::Expr j = ir::var("j");
  const ir::Expr inside = at >= ir::int_imm(0) && at < ir::int_imm(size);
  const ir::Expr read = ir::select(inside, ir::load(a, {at, j}), ir::float_imm(0));
  program.outputs = {ir::add_reduce(program, "output", axes, steps, ir::Reduction::Sum,
                                    read * ir::load(b, {ir::var("k"), j}))};
  space::Scheduled plain{schedule::initial_state(program), {}};
  plain.bounds = schedule::infer_bounds(plain.state, schedule::Mins::Leave).value();
  return predict(plain, space::sample_target()).stages[0].compute_us;
}

// A sum over three neighbours of each of four values: two of the twelve lie outside.
TEST(AnalyticModel, WhatLiesAroundTheInputIsNotAdded) {
  const auto compute_us = [](std::int64_t size, std::int64_t begin) {
    return sum_us({{"i", 4}, {"j", 64}}, {{"k", 3}},
                  ir::var("i") + ir::var("k") + ir::int_imm(begin), size);
  };
  EXPECT_LT(compute_us(4, -1), 0.95 * compute_us(6, 0));
  EXPECT_GT(compute_us(4, -1), 0.8 * compute_us(6, 0));
}

// As transposed convolutions do: two phases of two neighbours each. Two of sixteen lie outside.
TEST(AnalyticModel, NorWhatLiesAroundAnInputThatIsReadInPhases) {
  const auto compute_us = [](std::int64_t size, std::int64_t begin) {
    return sum_us({{"i", 4}, {"p", 2}, {"j", 64}}, {{"k", 2}},
                  ir::var("i") + ir::var("p") + ir::var("k") + ir::int_imm(begin), size);
  };
  EXPECT_LT(compute_us(4, -1), 0.95 * compute_us(6, 0));
  EXPECT_GT(compute_us(4, -1), 0.8 * compute_us(6, 0));
}

// The first and the second half of the rows side by side in a body: two rows, not all between them.
TEST(AnalyticModel, ABodyMayTakeRowsFarApart) {
  const auto compute_us = [](const std::string& steps) {
    ir::Program program{"copy", {}, {}, {}};
    const ir::Buffer a = ir::add_input(program, "a", ir::kF32, {64, 64});
    program.outputs = {ir::add_compute(program, "output", {{"i", 64}, {"j", 64}},
                                       ir::load(a, {ir::var("i"), ir::var("j")}))};
    space::Scheduled copy{schedule::initial_state(program), {}};
    const schedule::Trace trace = schedule::parse_trace(steps).value();
    for (const schedule::Step& step : trace) {
      EXPECT_TRUE(schedule::perform(copy.state, step).ok());
    }
    copy.bounds = schedule::infer_bounds(copy.state, schedule::Mins::Leave).value();
    return predict(copy, space::sample_target()).stages[0].compute_us;
  };
  const std::string vector = "split output j 8\nvectorize output j.1\n";
  const double neighbours =
      compute_us(vector + "split output i 2\nreorder output i.0 j.0 i.1 j.1\nunroll output i.1\n");
  const double halves =
      compute_us(vector + "split output i 32\nreorder output i.1 j.0 i.0 j.1\nunroll output i.0\n");
  EXPECT_NEAR(halves / neighbours, 1, 0.1);
}

TEST(AnalyticModel, ConstantsArePackedAheadOfTime) {
  ir::Program program = space::sample_program(96, 96, 64);
  const auto cost_of_packing = [](const ir::Program& p) {
    const TemplateSpace space({{"direct", p}}, {&space::kSampleTemplate, 1},
                              space::sample_target());
    return predicted(space, "rows=4 vectors=3 steps=4 pack=1").stages[0].nest_us;
  };
  EXPECT_GT(cost_of_packing(program), 0);
  program.inputs[1].constant = true;
  EXPECT_EQ(cost_of_packing(program), 0);
}

TEST(AnalyticModel, ThreadsHelpParallelLoopsOnly) {
  const TemplateSpace space = space::sample_space(96, 96, 256);
  const space::Point point{
      0, space::parse_config(space.knobs(0), "rows=4 vectors=3 steps=4 pack=0").value()};
  auto scheduled = space.schedule_of(point).value();
  target::Target two = space::sample_target();
  two.threads = 2;
  const double serial = predict(scheduled, space.target()).us;
  EXPECT_NEAR(predict(scheduled, two).us, serial, serial * 1e-9);
  ASSERT_TRUE(schedule::perform(scheduled.state, schedule::Parallel{"output", "i.0"}).ok());
  EXPECT_LT(predict(scheduled, two).us, serial * 0.65);
  EXPECT_GT(predict(scheduled, two).us, serial * 0.45);
}

// Rows of a hundred floats end within cache lines: threads that have columns each write to the
// same.
TEST(AnalyticModel, ThreadsThatWriteToTheSameLinesWait) {
  const TemplateSpace space = space::sample_space(96, 100, 256);
  target::Target two = space::sample_target();
  two.threads = 2;
  const auto cores_us = [&](const std::string& loop) {
    auto scheduled = space.schedule_of(space.defaults()[0]).value();
    EXPECT_TRUE(schedule::perform(scheduled.state, schedule::Parallel{"output", loop}).ok());
    return predict(scheduled, two).stages.back().cores_us;
  };
  EXPECT_GT(cores_us("j.0"), 0);
  // In all rows; between two of them a line that is loaded ahead.
  EXPECT_NEAR(cores_us("j.0") / cores_us("i.0"), 96 / 0.25, 1e-6);
}

// Of a program whose threads share the loop.
Prediction shared_loop(const std::string& loop, const target::Target& target) {
  const TemplateSpace space = space::sample_space(96, 100, 256);
  auto scheduled = space.schedule_of(space.defaults()[0]).value();
  EXPECT_TRUE(schedule::perform(scheduled.state, schedule::Parallel{"output", loop}).ok());
  return predict(scheduled, target);
}

// What starting all cores takes grows with them; two threads pay for two.
TEST(AnalyticModel, TwoThreadsTakeAsLongWhateverTheCores) {
  target::Target two = space::sample_target();
  two.threads = 2;
  two.machine.cores = 2;
  target::Target of_many = two;
  of_many.machine.cores = 33;
  of_many.machine.fork_join_us = 32 * two.machine.fork_join_us;
  for (const char* loop : {"i.0", "j.0"}) {
    EXPECT_DOUBLE_EQ(shared_loop(loop, of_many).us, shared_loop(loop, two).us) << loop;
  }
}

// Each of four threads shares lines with its neighbours only.
TEST(AnalyticModel, PairsOfThreadsExchangeLinesAtOnce) {
  target::Target target = space::sample_target();
  target.threads = 2;
  const double of_two = shared_loop("i.0", target).stages.back().cores_us;
  target.threads = 4;
  EXPECT_GT(of_two, 0);
  EXPECT_NEAR(shared_loop("i.0", target).stages.back().cores_us, of_two, 1e-9);
}

TEST(AnalyticModel, UnscheduledProgramsAreSlow) {
  const TemplateSpace space = space::sample_space(96, 96, 256);
  space::Scheduled plain{schedule::initial_state(space::sample_program(96, 96, 256)), {}};
  plain.bounds = schedule::infer_bounds(plain.state, schedule::Mins::Leave).value();
  EXPECT_GT(predict(plain, space.target()).us,
            5 * predicted(space, "rows=4 vectors=3 steps=4 pack=1").us);
}

}  // namespace
}  // namespace attune::cost_model
