#include "tuner/whole_model/look_order.h"

#include <gtest/gtest.h>

namespace attune::whole_model {
namespace {

using Order = std::vector<std::size_t>;

TEST(ByGain, WhatIsSpentBeyondTheBoundCountsForAllUses) {
  const std::vector<LookTask> tasks{{.uses = 1, .bound_us = 100, .us = 400},
                                    {.uses = 16, .bound_us = 10, .us = 40},
                                    {.uses = 1, .bound_us = 1, .us = 350}};
  EXPECT_EQ(by_gain(tasks), (Order{1, 2, 0}));
}

TEST(ByGain, LeavesOutWhatIsNearItsBoundOrHardlyFelt) {
  const std::vector<LookTask> tasks{{.uses = 1, .bound_us = 900, .us = 1000},
                                    {.uses = 1, .bound_us = 100, .us = 1000},
                                    {.uses = 1, .bound_us = 0.1, .us = 1},
                                    {.uses = 1, .bound_us = 1000, .us = 700}};
  EXPECT_EQ(by_gain(tasks), (Order{1}));
}

TEST(ByGain, WhatWasNotTimedComesLastByItsBound) {
  const std::vector<LookTask> tasks{{.uses = 1, .bound_us = 10},
                                    {.uses = 3, .bound_us = 50},
                                    {.uses = 1, .bound_us = 1, .us = 2}};
  EXPECT_EQ(by_gain(tasks), (Order{2, 1, 0}));
  EXPECT_TRUE(by_gain({}).empty());
}

TEST(StepBudget, BeginsWhatEndsInTime) {
  StepBudget budget(2);
  EXPECT_TRUE(budget.allows_another(1.9));
  budget.add_step(0.4);
  budget.add_step(0.8);
  EXPECT_TRUE(budget.allows_another(1.3));
  EXPECT_FALSE(budget.allows_another(1.5));
  EXPECT_FALSE(budget.is_spent(1.9));
  EXPECT_TRUE(budget.is_spent(2));
}

}  // namespace
}  // namespace attune::whole_model
