#include "tuner/space/replay_cache.h"

#include <gtest/gtest.h>

#include "tuner/space/sample_template.h"

namespace attune::space {
namespace {

TEST(ReplayCache, GivesWhatReplayGives) {
  const ir::Program program = sample_program(64, 96, 64);
  ReplayCache cache(schedule::initial_state(program));
  for (const char* text :
       {"cache_write anchor\nsplit output i 4\n", "cache_write anchor\nsplit output i 8\n",
        "split output i 4\n", "cache_write anchor\nsplit output i 4\nsplit output j 16\n"}) {
    const auto trace = schedule::parse_trace(text);
    ASSERT_TRUE(trace.ok()) << trace.error().message;
    const auto fresh = schedule::replay(program, *trace);
    const auto cached = cache.replay(*trace);
    ASSERT_TRUE(fresh.ok() && cached.ok()) << text;
    ASSERT_EQ(cached->stages.size(), fresh->stages.size()) << text;
    for (std::size_t i = 0; i < fresh->stages.size(); ++i) {
      EXPECT_EQ(cached->stages[i]->stage.name, fresh->stages[i]->stage.name);
      EXPECT_EQ(cached->stages[i]->loops, fresh->stages[i]->loops);
      EXPECT_EQ(cached->stages[i]->iters.size(), fresh->stages[i]->iters.size());
    }
  }
}

TEST(ReplayCache, IllegalStepsAreErrorsEachTime) {
  ReplayCache cache(schedule::initial_state(sample_program(64, 96, 64)));
  const auto wrong = schedule::parse_trace("cache_write anchor\nsplit output nothing 4\n");
  const auto right = schedule::parse_trace("cache_write anchor\n");
  for (int i = 0; i < 2; ++i) {
    EXPECT_FALSE(cache.replay(*wrong).ok());
    EXPECT_TRUE(cache.replay(*right).ok());
  }
}

}  // namespace
}  // namespace attune::space
