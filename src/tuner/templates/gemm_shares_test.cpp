// How many shares of a reduction threads are offered.
#include "tuner/templates/gemm_shares.h"

#include <gtest/gtest.h>

#include "compiler/ops/forms/matmul.h"
#include "tuner/space/template_space.h"
#include "tuner/templates/templates.h"

namespace attune::templates {
namespace {

target::Target target_with(int threads) {
  target::Target target;
  target.threads = threads;
  return target;
}

// Of one row times so many vectors of columns.
std::vector<std::int64_t> counts(std::int64_t vectors, int threads, std::int64_t k = 12'800) {
  const GemmShape shape{1, 1, 8 * vectors, k, 8, 4, k};
  std::vector<std::int64_t> numbers;
  for (const space::Choice& choice : shares_knob(shape, target_with(threads)).choices) {
    numbers.push_back(choice.numbers[0]);
  }
  return numbers;
}

using Counts = std::vector<std::int64_t>;

// Records and sessions name points of these spaces by their numbers.
TEST(GemmShares, TwoThreadsChooseAmongTheSameAsEver) {
  EXPECT_EQ(counts(1, 1), Counts({0}));
  for (const std::int64_t vectors : {1, 2, 5}) {
    EXPECT_EQ(counts(vectors, 2), Counts({0, 2, 3, 4})) << vectors;
  }
  EXPECT_EQ(counts(1, 2, 50), Counts({0, 2, 3}));
}

TEST(GemmShares, DivideAmongOddNumbersOfThreads) {
  EXPECT_EQ(counts(1, 3), Counts({0, 3, 6, 8}));
  EXPECT_EQ(counts(1, 5), Counts({0, 5, 8, 10}));
  EXPECT_EQ(counts(1, 7), Counts({0, 7, 12, 14}));
  EXPECT_EQ(counts(1, 11), Counts({0, 11, 22, 32}));
  EXPECT_EQ(counts(1, 16), Counts({0, 16, 24, 32}));
}

// Panels of columns are shared out together with them.
TEST(GemmShares, FewSharesAreEnoughWherePanelsAreMany) {
  const Counts few = counts(64, 64, 256);
  ASSERT_GT(few.size(), 1u);
  EXPECT_LT(few[1], 64);
  // As many pieces as threads, at least.
  EXPECT_EQ(counts(1, 64, 256), Counts({0}));
}

// It takes longer to start all cores of a large machine than the few that a target has.
TEST(GemmShares, FewThreadsOfManyCoresAddInParallel) {
  const ir::Program program = ops::build_matmul({.m = 1, .n = 16, .k = 256}).value();
  const auto adds_in_parallel = [&](target::Target target) {
    target.machine.fork_join_us = 0.01;
    const space::TemplateSpace space({{"direct", program}}, all(), target);
    space::Point point = space.defaults()[0];
    for (std::size_t i = 0; i < point.choices.size(); ++i) {
      if (space.knobs(0)[i].name == "shares") point.choices[i] = 1;
    }
    const std::string steps = schedule::to_string(space.trace_of(point));
    return steps.find("parallel output") != std::string::npos;
  };
  target::Target target = target_with(2);
  target.machine.cores = 2;
  EXPECT_FALSE(adds_in_parallel(target));
  target.machine.cores = 101;
  EXPECT_TRUE(adds_in_parallel(target));
}

}  // namespace
}  // namespace attune::templates
