#include "runtime/execution/thread_pool.h"

#include <gtest/gtest.h>

#include <atomic>
#include <limits>
#include <mutex>
#include <thread>
#include <vector>

#include "runtime/execution/affinity.h"

namespace attune::runtime {
namespace {

struct Piece {
  std::int64_t begin;
  std::int64_t end;
  std::int32_t worker;
};

struct Log {
  std::mutex mutex;
  std::vector<Piece> pieces;
};

void note(void* closure, std::int64_t begin, std::int64_t end, std::int32_t worker) {
  auto* log = static_cast<Log*>(closure);
  const std::lock_guard<std::mutex> lock(log->mutex);
  log->pieces.push_back({begin, end, worker});
}

// The pieces cover [0, count) once, in worker order, and differ by at most one iteration.
void expect_even_cover(Log& log, std::int64_t count, int workers) {
  std::sort(log.pieces.begin(), log.pieces.end(),
            [](const Piece& a, const Piece& b) { return a.begin < b.begin; });
  std::int64_t next = 0;
  std::int32_t worker = 0;
  for (const Piece& piece : log.pieces) {
    EXPECT_EQ(piece.begin, next);
    EXPECT_EQ(piece.worker, worker++);
    EXPECT_GE(piece.end - piece.begin, count / workers > 0 ? count / workers : 1);
    EXPECT_LE(piece.end - piece.begin, (count - 1) / workers + 1);
    next = piece.end;
  }
  EXPECT_EQ(next, count);
}

TEST(ThreadPool, CoversEveryCountOnce) {
  for (int workers : {1, 2, 3, 8}) {
    ThreadPool pool({.workers = workers});
    for (std::int64_t count : {1, 2, 3, 7, 8, 9, 1000}) {
      Log log;
      pool.parallel_for(count, note, &log);
      expect_even_cover(log, count, workers);
    }
    Log log;
    pool.parallel_for(std::numeric_limits<std::int64_t>::max(), note, &log);
    expect_even_cover(log, std::numeric_limits<std::int64_t>::max(), workers);
  }
}

TEST(ThreadPool, EmptyLoopCallsNothing) {
  ThreadPool pool({.workers = 2});
  Log log;
  pool.parallel_for(0, note, &log);
  pool.parallel_for(-5, note, &log);
  EXPECT_TRUE(log.pieces.empty());
}

TEST(ThreadPool, ResultsAreVisibleAfterEachOfManyLoops) {
  for (double spin_us : {0.0, 100.0}) {
    ThreadPool pool({.workers = 3, .spin_us = spin_us});
    std::vector<std::int64_t> totals(3, 0);  // plain memory: the join must publish it
    for (int round = 0; round < 2000; ++round) {
      pool.parallel_for(
          3,
          [](void* closure, std::int64_t begin, std::int64_t, std::int32_t) {
            ++(*static_cast<std::vector<std::int64_t>*>(closure))[static_cast<std::size_t>(begin)];
          },
          &totals);
      ASSERT_EQ(totals, std::vector<std::int64_t>(3, round + 1));
    }
  }
}

struct Nest {
  ThreadPool* pool;
  Log* log;
};

TEST(ThreadPool, NestedLoopRunsSeriallyInItsWorker) {
  ThreadPool pool({.workers = 2});
  Log log;
  Nest nest{&pool, &log};
  pool.parallel_for(
      2,
      [](void* closure, std::int64_t, std::int64_t, std::int32_t) {
        auto* inner = static_cast<Nest*>(closure);
        inner->pool->parallel_for(10, note, inner->log);
      },
      &nest);
  ASSERT_EQ(log.pieces.size(), 2u);
  EXPECT_NE(log.pieces[0].worker, log.pieces[1].worker);
  for (const Piece& piece : log.pieces) {
    EXPECT_EQ(piece.begin, 0);
    EXPECT_EQ(piece.end, 10);
  }
}

struct Exclusive {
  std::atomic<int> inside{0};
  std::atomic<int> most{0};
  std::atomic<int> calls{0};
};

TEST(ThreadPool, LoopsOfSeveralThreadsDoNotMix) {
  ThreadPool pool({.workers = 2});
  Exclusive state;
  std::vector<std::thread> callers;
  for (int i = 0; i < 4; ++i) {
    callers.emplace_back([&] {
      for (int round = 0; round < 200; ++round) {
        pool.parallel_for(
            2,
            [](void* closure, std::int64_t, std::int64_t, std::int32_t) {
              auto* shared = static_cast<Exclusive*>(closure);
              const int now = ++shared->inside;
              int most = shared->most;
              while (most < now && !shared->most.compare_exchange_weak(most, now)) continue;
              ++shared->calls;
              --shared->inside;
            },
            &state);
      }
    });
  }
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(state.calls, 4 * 200 * 2);
  EXPECT_LE(state.most, 2);
}

TEST(ThreadPool, PinsItsWorkers) {
  const int core = allowed_cores().back();
  ThreadPool pool({.workers = 2, .cores = {core}});
  std::vector<std::vector<int>> seen(2);
  pool.parallel_for(
      2,
      [](void* closure, std::int64_t begin, std::int64_t, std::int32_t) {
        (*static_cast<std::vector<std::vector<int>>*>(closure))[static_cast<std::size_t>(begin)] =
            allowed_cores();
      },
      &seen);
  EXPECT_EQ(seen[1], std::vector<int>{core});
  EXPECT_EQ(seen[0], allowed_cores());
}

TEST(Affinity, RefusesCoresThatDoNotExist) {
  EXPECT_EQ(pin_current_thread(-1).error().message, "core -1 does not exist");
  EXPECT_EQ(pin_current_thread(8000).error().message, "cannot pin to core 8000: Invalid argument");
}

}  // namespace
}  // namespace attune::runtime
