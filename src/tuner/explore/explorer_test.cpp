#include "tuner/explore/explorer.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "tuner/explore/annealing.h"
#include "tuner/explore/knobs_space_testing.h"
#include "tuner/explore/random.h"
#include "tuner/space/sample_template_testing.h"

namespace attune::explore {
namespace {

using space::Point;
using space::TemplateSpace;

// A model that knows nothing.
class FlatModel : public cost_model::CostModel {
 public:
  double predict_us(const space::Scheduled&) const override { return 100; }
};

// A separable cost with its optimum at one point.
double cost_us(const TemplateSpace& space, const Point& point) {
  const space::Values values(space.knobs(0), point.choices);
  const auto off = [&](const char* knob, double best) {
    return std::abs(std::log2(static_cast<double>(values[knob]) / best));
  };
  return 100 * std::exp(0.3 * off("rows", 4) + 0.4 * off("vectors", 3) + 0.1 * off("steps", 2) +
                        (values["pack"] == 1 ? 0.2 : 0.0));
}

std::vector<space::Candidate> measure(const TemplateSpace& space,
                                      std::vector<space::Candidate> batch) {
  for (space::Candidate& p : batch) p.time_us = cost_us(space, *p.point);
  return batch;
}

std::vector<std::uint64_t> hashes(const std::vector<space::Candidate>& batch) {
  std::vector<std::uint64_t> all;
  for (const space::Candidate& p : batch) all.push_back(p.trace_hash);
  return all;
}

class EveryExplorer : public testing::TestWithParam<std::string_view> {
 protected:
  std::unique_ptr<Explorer> make() const {
    return std::move(make_explorer({.explorer = std::string(GetParam())}, {space_, model_}))
        .value();
  }
  const TemplateSpace space_ = space::sample_space();
  const FlatModel model_;
};

TEST_P(EveryExplorer, NeverRepeatsAndExhaustsTheSpace) {
  std::size_t usable = 0;
  for (std::uint64_t i = 0; i < space_.size(); ++i) {
    usable += space_.schedule_of(space_.point_at(i)).ok();
  }
  const auto explorer = make();
  Hashes seen;
  Rng rng(1);
  while (!explorer->exhausted()) {
    const auto batch = explorer->select(16, {}, rng);
    for (const space::Candidate& p : batch) EXPECT_TRUE(seen.insert(p.trace_hash).second);
    explorer->update(measure(space_, batch));
    ASSERT_LE(seen.size(), usable);
  }
  EXPECT_EQ(seen.size(), usable);
  EXPECT_TRUE(explorer->select(4, {}, rng).empty());
}

TEST_P(EveryExplorer, BeginsWithTheDefaultIfItPredicts) {
  if (GetParam() == "random" || GetParam() == "grid") return;
  Rng rng(1);
  EXPECT_EQ(make()->select(4, {}, rng)[0].point, space_.defaults()[0]);
}

TEST_P(EveryExplorer, SkipsKnownTraces) {
  Rng rng(1), again(1);
  const auto first = make()->select(8, {}, rng);
  Hashes known;
  for (std::uint64_t h : hashes(first)) known.insert(h);
  for (const space::Candidate& p : make()->select(8, known, again)) {
    EXPECT_FALSE(known.contains(p.trace_hash));
  }
}

TEST_P(EveryExplorer, RecognisesCandidatesOfOthers) {
  Rng rng(1), same(1);
  const auto batch = make()->select(8, {}, rng);
  const auto explorer = make();
  explorer->update(measure(space_, batch));
  Hashes known;
  for (std::uint64_t h : hashes(batch)) known.insert(h);
  for (const space::Candidate& p : explorer->select(8, {}, same)) {
    EXPECT_FALSE(known.contains(p.trace_hash));
  }
  const space::Candidate foreign{.trace = {}, .trace_hash = 12345, .time_us = 1.0};
  explorer->update({&foreign, 1});
}

TEST_P(EveryExplorer, CountsRejections) {
  const auto explorer = make();
  Rng rng(1);
  while (!explorer->exhausted()) explorer->select(64, {}, rng);
  std::int64_t rejected = 0;
  for (const auto& [reason, count] : explorer->rejections()) rejected += count;
  EXPECT_GT(explorer->rejections().at("the register tile spills"), 0);
  EXPECT_GT(explorer->rejections().at("too few accumulators"), 0);
  EXPECT_LT(rejected, static_cast<std::int64_t>(space_.size()));
}

TEST_P(EveryExplorer, IsDeterministicAndGoesOnAfterLoading) {
  const auto one = make();
  std::unique_ptr<Explorer> other = make();
  std::vector<std::string> changes;
  for (std::uint64_t round = 0; round < 5; ++round) {
    Rng rng(round), same(round);
    const auto batch = one->select(8, {}, rng);
    EXPECT_EQ(hashes(batch), hashes(other->select(8, {}, same)));
    one->update(measure(space_, batch));
    other->update(measure(space_, batch));
    auto loaded = make();
    changes.push_back(other->changes());
    ASSERT_TRUE(loaded->restore(changes).ok());
    other = std::move(loaded);
  }
}

TEST_P(EveryExplorer, DamagedStateIsRefused) {
  for (const char* text : {"", "{}", "[1]", R"({"version":0,"size":1})", R"({"version":"3"})",
                           R"({"version":3,"size":1,"changes":[]})"}) {
    const Status status = make()->restore(std::vector<std::string>{text});
    ASSERT_FALSE(status.ok()) << text;
    EXPECT_EQ(status.error().code, ErrorCode::Corrupt);
  }
}

TEST_P(EveryExplorer, StateOfALaterProgramIsRefused) {
  const Status status = make()->restore(std::vector<std::string>{R"({"version":4,"more":1})"});
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().message,
            "the saved state of the search has version 4, this attune knows up to 3");
  EXPECT_EQ(status.error().hint, "update attune, or start a new session without --resume");
}

// As programs before the first release wrote them.
TEST_P(EveryExplorer, AfterAFormerStateTheSearchBeginsAnew) {
  const auto explorer = make();
  std::vector<std::string> changes = {R"({"version":1,"proposed":[[3,17,1.5,null]],"gone":[3]})",
                                      R"({"version":2,"size":64,"proposed":[],"gone":[1,2]})"};
  ASSERT_TRUE(explorer->restore(changes).ok());
  Rng rng(1);
  const auto batch = explorer->select(8, {}, rng);
  EXPECT_EQ(batch.size(), 8u);
  explorer->update(measure(space_, batch));
  changes.push_back(explorer->changes());
  EXPECT_TRUE(make()->restore(changes).ok()) << "also once it has gone on";
}

// As many points, but those of a template that is another by now.
TEST_P(EveryExplorer, StateOfAnotherSpaceIsRefused) {
  const KnobsSpace wide(3, 4), narrow(6, 2);
  ASSERT_EQ(wide.size(), narrow.size());
  const SearchOptions options{.explorer = std::string(GetParam())};
  const auto used = std::move(make_explorer(options, {wide, model_})).value();
  Rng rng(1);
  ASSERT_EQ(used->select(4, {}, rng).size(), 4u);
  const std::vector<std::string> changes{used->changes()};
  const auto same = std::move(make_explorer(options, {wide, model_})).value();
  EXPECT_TRUE(same->restore(changes).ok());
  const auto other = std::move(make_explorer(options, {narrow, model_})).value();
  const Status status = other->restore(changes);
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().message, "the saved state of the search is of another space");
}

INSTANTIATE_TEST_SUITE_P(All, EveryExplorer, testing::ValuesIn(explorer_names()),
                         [](const auto& parameter) { return std::string(parameter.param); });

// Trials until the best point was proposed.
std::size_t trials_to_optimum(Explorer& explorer, const TemplateSpace& space, std::uint64_t seed) {
  double best = 1e300;
  for (std::uint64_t i = 0; i < space.size(); ++i) {
    const Point point = space.point_at(i);
    if (space.schedule_of(point).ok()) best = std::min(best, cost_us(space, point));
  }
  std::size_t trials = 0;
  for (std::uint64_t round = 0; !explorer.exhausted(); ++round) {
    Rng rng(seed * 1000 + round);
    const auto batch = explorer.select(8, {}, rng);
    for (const space::Candidate& p : batch) {
      ++trials;
      if (cost_us(space, *p.point) <= best * 1.0001) return trials;
    }
    explorer.update(measure(space, batch));
  }
  return trials;
}

double mean_trials(const SearchOptions& options) {
  const TemplateSpace space = space::sample_space(96, 96, 64);
  const FlatModel model;
  double sum = 0;
  for (std::uint64_t seed = 0; seed < 5; ++seed) {
    const auto explorer = std::move(make_explorer(options, {space, model})).value();
    sum += static_cast<double>(trials_to_optimum(*explorer, space, seed));
  }
  return sum / 5;
}

TEST(Annealing, FindsASeparableOptimumQuicklyWithoutAModel) {
  EXPECT_LT(mean_trials({}), 40);
  EXPECT_LT(mean_trials({}), 0.5 * mean_trials({.explorer = "random"}));
}

TEST(Annealing, WalksSpacesThatAreTooLargeToScore) {
  EXPECT_LT(mean_trials({.score_whole = 0}), 60);
}

TEST(Annealing, AvoidsWhatFails) {
  const TemplateSpace space = space::sample_space(96, 96, 64);
  const FlatModel model;
  const auto explorer = std::move(make_explorer({.random_share = 0}, {space, model})).value();
  std::size_t failed = 0, all = 0;
  for (std::uint64_t round = 0; round < 8; ++round) {
    Rng rng(round);
    std::vector<space::Candidate> batch = explorer->select(8, {}, rng);
    for (space::Candidate& p : batch) {
      const space::Values values(space.knobs(0), p.point->choices);
      const bool fails = values["pack"] == 0;
      failed += fails && round >= 2;
      all += round >= 2;
      if (!fails) p.time_us = 100.0;
    }
    explorer->update(batch);
  }
  EXPECT_LT(static_cast<double>(failed), 0.2 * static_cast<double>(all));
}

// Thinks that one of two algorithms is slow.
class PartialModel : public cost_model::CostModel {
 public:
  double predict_us(const space::Scheduled& scheduled) const override {
    return scheduled.state.stages.size() > 3 ? 100 : 500;
  }
};

TEST(Annealing, TriesEveryAlternativeWhateverIsPredicted) {
  ir::Program other = space::sample_program(64, 96, 64);
  const ir::Buffer result = other.outputs[0];
  other.outputs = {ir::add_compute(other, "copy", {{"i", 64}, {"j", 96}},
                                   ir::load(result, {ir::var("i"), ir::var("j")}))};
  const TemplateSpace space({{"direct", space::sample_program(64, 96, 64)}, {"other", other}},
                            {&space::kSampleTemplate, 1}, space::sample_target());
  const PartialModel model;
  const auto explorer =
      std::move(make_explorer({.random_share = 0, .defaults_first = false}, {space, model}))
          .value();
  Rng rng(1);
  std::set<std::uint32_t> tried;
  for (const space::Candidate& p : explorer->select(8, {}, rng)) tried.insert(p.point->alternative);
  EXPECT_EQ(tried.size(), 2u);
}

// Thinks that nothing works unless an operand is packed.
class SteepModel : public cost_model::CostModel {
 public:
  double predict_us(const space::Scheduled& scheduled) const override {
    return scheduled.state.find("cache.b") < 0 ? 1e6 : 100;
  }
};

TEST(Explorers, WhatIsPredictedFarSlowerIsNotTried) {
  const TemplateSpace space = space::sample_space();
  const SteepModel model;
  for (std::string_view name : explorer_names()) {
    const auto explorer =
        std::move(make_explorer({.explorer = std::string(name)}, {space, model})).value();
    Rng rng(1);
    while (!explorer->exhausted()) {
      for (const space::Candidate& p : explorer->select(32, {}, rng))
        EXPECT_EQ(p.predicted_us, 100);
    }
    EXPECT_GT(explorer->rejections().at("predicted far slower than the default"), 0);
  }
}

TEST(Explorers, UnknownNamesAreRefused) {
  const TemplateSpace space = space::sample_space();
  const FlatModel model;
  const auto made = make_explorer({.explorer = "oracle"}, {space, model});
  ASSERT_FALSE(made.ok());
  EXPECT_EQ(made.error().message, "unknown explorer 'oracle'");
  EXPECT_EQ(made.error().hint, "explorers are annealing, genetic, random, grid");
}

}  // namespace
}  // namespace attune::explore
