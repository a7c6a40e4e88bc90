#include "fleet/server/event_loop.h"

#include <gtest/gtest.h>

#include <atomic>
#include <future>

#include "base/temporary_directory_testing.h"
#include "fleet/jobs/policies/policies.h"
#include "fleet/server/lease_clock.h"
#include "fleet/wire/limits.h"

namespace attune::server {
namespace {

constexpr double kLeaseSeconds = 2;
const jobs::Pass kElsewhere{.by_token = jobs::Standing::Worker};

class Nowhere final : public World {
 public:
  void send(jobs::WorkerId, const v1::ToWorker&) override {}
  void close(jobs::WorkerId) override {}
  void kill(jobs::WorkerId) override {}
  void parked(int) override {}
  void note(const std::string&) override {}
};

class LoopTest : public ::testing::Test {
 protected:
  LoopTest()
      : journal_(*StateFile::open(folder_.file("scheduler.db")), [](const Error&) {}),
        loop_(jobs::Book({.pools = {{"host", {{0}}}, {"cpu", {{1}}}},
                          .policy = *jobs::find_policy("fair"),
                          .version = "1",
                          .lease_seconds = kLeaseSeconds},
                         {}, clock_.now()),
              journal_, world_, clock_, kLeaseSeconds) {}

  // Time in which the loop is away.
  void stall() {
    loop_.post([this](Turn&) { pass(2 * kLeaseSeconds); });
  }
  void pass(double seconds) { uptime_ = uptime_ + seconds; }
  // Asked in a turn of its own: leases have been judged since the events before.
  bool knows_worker() {
    bool known = false;
    for (int turn = 0; turn < 2; ++turn) {
      std::promise<void> asked;
      loop_.post([&](Turn& now) {
        known = now.book.knows_worker(1);
        asked.set_value();
      });
      asked.get_future().wait();
    }
    return known;
  }
  void join() {
    loop_.post([](Turn& turn) { turn.book.joined(1, kElsewhere, turn.now); });
  }

  test::TemporaryDirectory folder_;
  std::atomic<double> uptime_ = 0;
  UnixClock clock_{[this] { return uptime_.load(); }};
  Nowhere world_;
  Journal journal_;
  EventLoop loop_;
};

TEST_F(LoopTest, TimeInWhichItWasAwayDoesNotCountAgainstALease) {
  loop_.serve();
  join();
  stall();
  EXPECT_TRUE(knows_worker());
}

TEST_F(LoopTest, NorDoesTimeBeforeItServes) {
  join();
  pass(2 * kLeaseSeconds);
  EXPECT_TRUE(knows_worker());
}

// Of a long list nobody who reads slowly keeps more than one part in memory.
TEST_F(LoopTest, PartsOfAListAreMadeWhenTheyAreAskedFor) {
  loop_.post([](Turn& turn) {
    for (int i = 0; i < 3; ++i) {
      v1::SubmitRequest request;
      request.mutable_spec()->set_model(std::string(wire::kLargestSpec - 1000, 'x'));
      EXPECT_TRUE(turn.book.submit({.uid = 0, .user = "me"}, request, turn.now).ok());
    }
  });
  std::atomic<int> parts = 0, jobs = 0;
  std::atomic<bool> last = false;
  loop_.watch(1, {.uid = 0, .user = "me"}, {}, [&](Result<v1::Snapshot> part) {
    jobs += part->jobs_size();
    last = part->next() == 0;
    parts += 1;
  });
  for (int i = 0; i < 10 && !last; ++i) {
    (void)knows_worker();  // some turns later
    EXPECT_EQ(parts, i + 1);
    loop_.watcher_ready(1);
    (void)knows_worker();
  }
  EXPECT_TRUE(last);
  EXPECT_GT(parts, 1);
  EXPECT_EQ(jobs, 3);
  loop_.unwatch(1);
  (void)knows_worker();
}

TEST_F(LoopTest, AWorkerThatIsSilentIsLost) {
  loop_.serve();
  join();
  EXPECT_TRUE(knows_worker());
  double silent = 0;
  for (const double tick = tick_seconds_of(kLeaseSeconds); knows_worker(); silent += tick)
    pass(tick);
  EXPECT_GE(silent, kLeaseSeconds - 1e-9);
}

}  // namespace
}  // namespace attune::server
