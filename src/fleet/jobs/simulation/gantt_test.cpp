#include "fleet/jobs/simulation/gantt.h"
#include "fleet/jobs/policies/policies.h"

#include <gtest/gtest.h>

namespace attune::jobs {
namespace {

std::size_t times_in(const std::string& text, const std::string& part) {
  std::size_t times = 0;
  for (std::size_t at = text.find(part); at != text.npos; at = text.find(part, at + 1)) ++times;
  return times;
}

Experiment wide_and_narrow() {
  Experiment experiment{{{"host", 3}}, {}, 0.3, 0.6};
  experiment.jobs.push_back({.name = "wide", .stages = {{"work", 0, 2, 10, {}}}});
  experiment.jobs.push_back({.name = "a <b>", .stages = {{"work", 0, 1, 10, {}}}});
  return experiment;
}

TEST(Gantt, AStageIsDrawnOnAllUnitsThatItHas) {
  const Experiment experiment = wide_and_narrow();
  const SimulatedRun run = simulate(experiment, **find_policy("fair"), 0, true);
  const std::string chart = gantt_svg(experiment, run, "a chart");
  EXPECT_EQ(times_in(chart, "<title>wide work: "), 2u) << chart;
  EXPECT_EQ(times_in(chart, "<title>a &lt;b&gt; work: "), 1u) << chart;
  for (const char* row : {"host 0<", "host 1<", "host 2<"}) EXPECT_EQ(times_in(chart, row), 1u);
}

TEST(Gantt, SameSeedSameBytes) {
  const Experiment experiment = wide_and_narrow();
  const auto chart = [&](std::uint64_t seed) {
    return gantt_svg(experiment, simulate(experiment, **find_policy("fair"), seed, true), "chart");
  };
  EXPECT_EQ(chart(5), chart(5));
  EXPECT_NE(chart(5), chart(6));
}

}  // namespace
}  // namespace attune::jobs
