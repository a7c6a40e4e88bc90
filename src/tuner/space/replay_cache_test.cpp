#include "tuner/space/replay_cache.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "tuner/space/sample_template_testing.h"

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

TEST(ReplayCache, ServesSeveralThreadsAtOnce) {
  const ir::Program program = sample_program(64, 96, 64);
  ReplayCache cache(schedule::initial_state(program));
  std::vector<std::thread> threads;
  std::atomic<int> wrong = 0;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 200; ++i) {
        const int factor = 1 + (i + 7 * t) % 24;  // more than are remembered side by side
        const auto trace = schedule::parse_trace(
            fmt::format("split output i {}\ncache_write anchor\nsplit output j 4\n", factor));
        const auto state = cache.replay(*trace);
        const bool right =
            state.ok() && state->stages.size() == 3 &&
            state->stages.back()->find_loop("j.1") >= 0 &&
            std::get<schedule::SplitRelation>(state->stages.back()->relations[0]).factors[0] ==
                factor;
        wrong += right ? 0 : 1;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

}  // namespace
}  // namespace attune::space
