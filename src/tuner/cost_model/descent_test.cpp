#include "tuner/cost_model/descent.h"

#include <gtest/gtest.h>

#include "tuner/cost_model/analytic.h"
#include "tuner/space/sample_template_testing.h"

namespace attune::cost_model {
namespace {

TEST(FastestPredicted, IsNoSlowerThanTheDefaultAndItsNeighbours) {
  const space::TemplateSpace space = space::sample_space(96, 96, 256);
  const AnalyticModel model(space.target());
  const auto found = fastest_predicted(space, model, 1);
  ASSERT_EQ(found.size(), 1u);
  const auto at_most = [&](const space::Point& point) {
    const auto scheduled = space.schedule_of(point);
    // What is hardly faster is not worth a turn.
    if (!scheduled.ok()) return;
    EXPECT_LE(0.95 * found[0].us, model.predict_us(*scheduled));
  };
  at_most(space.defaults()[0]);
  for (const space::Point& other : space.neighbours(found[0].point)) at_most(other);
}

TEST(FastestPredicted, AreDifferentSchedulesInOrder) {
  const space::TemplateSpace space = space::sample_space(96, 96, 256);
  const auto found = fastest_predicted(space, AnalyticModel(space.target()), 5);
  ASSERT_EQ(found.size(), 5u);
  for (std::size_t i = 1; i < found.size(); ++i) {
    EXPECT_LE(found[i - 1].us, found[i].us);
    for (std::size_t j = 0; j < i; ++j) {
      EXPECT_NE(schedule::hash(space.trace_of(found[i].point)),
                schedule::hash(space.trace_of(found[j].point)));
    }
  }
}

TEST(FastestPredicted, AreTheSameEveryTime) {
  const space::TemplateSpace space = space::sample_space(64, 80, 100);
  const AnalyticModel model(space.target());
  const auto once = fastest_predicted(space, model, 8), again = fastest_predicted(space, model, 8);
  ASSERT_EQ(once.size(), again.size());
  for (std::size_t i = 0; i < once.size(); ++i) EXPECT_EQ(once[i].point, again[i].point);
}

}  // namespace
}  // namespace attune::cost_model
