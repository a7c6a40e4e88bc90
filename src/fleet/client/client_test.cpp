#include "fleet/client/client.h"

#include <gtest/gtest.h>

#include "fleet/client/fake_scheduler_testing.h"
#include "fleet/wire/state_directory.h"
#include "fleet/wire/unix_socket.h"

namespace attune::client {
namespace {

JobRequest request_of(const std::string& name) {
  return {.name = name,
          .user = "ada",
          .priority = 2,
          .model = "resnet18",
          .device = "cpu",
          .threads = 1,
          .trials = 64,
          .seconds = 30,
          .until_latency_ms = 12,
          .prefetch = 2,
          .in_turn = true,
          .seed = 7,
          .output = "/tmp/x.attune",
          .options_json = "{}",
          .no_wait = true};
}

TEST(Client, SubmitsOnceForOneKey) {
  FakeScheduler scheduler;
  Client client({.state = scheduler.state()});
  const auto first = client.submit(request_of("a"), "key");
  ASSERT_TRUE(first.ok()) << first.error().message;
  EXPECT_FALSE(first->already_known);
  EXPECT_EQ(first->job.request, request_of("a"));
  const auto again = client.submit(request_of("a"), "key");
  ASSERT_TRUE(again.ok());
  EXPECT_TRUE(again->already_known);
  EXPECT_EQ(again->job.id, first->job.id);
  EXPECT_EQ(client.list("", false)->jobs.size(), 1u);
}

TEST(Client, ErrorsOfTheSchedulerArriveInWords) {
  FakeScheduler scheduler;
  Client client({.state = scheduler.state()});
  const auto unknown = client.control("nobody", Wish::Stop);
  ASSERT_FALSE(unknown.ok());
  EXPECT_EQ(unknown.error().code, ErrorCode::NotFound);
  EXPECT_EQ(unknown.error().message, "there is no job 'nobody'");
  EXPECT_EQ(unknown.error().hint, "'attune jobs' lists them");
}

TEST(Client, SaysWhatIsToBecomeOfAJob) {
  FakeScheduler scheduler;
  Client client({.state = scheduler.state()});
  ASSERT_TRUE(client.submit(request_of("a"), "1").ok());
  EXPECT_EQ(client.control("a", Wish::Pause)->state, JobState::Paused);
  EXPECT_EQ(client.control("a", Wish::Resume)->state, JobState::Queued);
  EXPECT_EQ(client.control("a", Wish::Stop)->state, JobState::Stopped);
  EXPECT_EQ(client.control("a", Wish::Cancel)->state, JobState::Cancelled);
}

TEST(Client, ReadsAllThatIsSaid) {
  FakeScheduler scheduler;
  v1::Snapshot said;
  said.set_policy("fair");
  said.set_now(100);
  said.add_device_keys("cpu");
  v1::Job& job = *said.add_jobs();
  job.set_id("7");
  job.set_state(v1::WAITING);
  job.set_waiting_for("host");
  job.set_queue_position(2);
  job.set_best_ms(1.5);
  v1::StageKind& kind = *job.add_kinds();
  kind.set_name("build");
  kind.set_left(-1);
  job.add_stages_done(3);
  v1::PoolState& pool = *said.add_pools();
  pool.set_name("host");
  pool.set_capacity(2);
  v1::Bar& bar = *said.add_bars();
  bar.set_job("7");
  bar.add_slots(1);
  scheduler.say(said);
  Client client({.state = scheduler.state()});
  const auto overview = client.list("", true);
  ASSERT_TRUE(overview.ok());
  EXPECT_EQ(overview->policy, "fair");
  EXPECT_EQ(overview->device_keys, std::vector<std::string>{"cpu"});
  ASSERT_EQ(overview->jobs.size(), 1u);
  const JobStatus& status = overview->jobs[0];
  EXPECT_EQ(status.state, JobState::Waiting);
  EXPECT_EQ(status.waiting_for, "host");
  EXPECT_EQ(status.queue_position, 2);
  EXPECT_EQ(status.best_ms, 1.5);
  EXPECT_EQ(status.default_ms, std::nullopt);
  ASSERT_EQ(status.stages.size(), 1u);
  EXPECT_EQ(status.stages[0].done, 3);
  EXPECT_EQ(status.stages[0].left, std::nullopt);
  EXPECT_EQ(overview->pools[0].capacity, 2);
  EXPECT_EQ(overview->bars[0].slots, std::vector<int>{1});
}

TEST(Client, NobodyThereIsSaidOnceTheTimeIsUp) {
  int waits = 0;
  Client client(
      {.state = "/nowhere/at/all", .patience_seconds = 0.12, .waiting = [&] { ++waits; }});
  const auto overview = client.list("", false);
  ASSERT_FALSE(overview.ok());
  EXPECT_EQ(overview.error().message, "no scheduler serves /nowhere/at/all");
  EXPECT_EQ(overview.error().hint,
            "start one with 'attune scheduler', or name another with --state DIR");
  EXPECT_EQ(waits, 1);
}

// One that is stopped: connections are made, and nothing is ever said over them.
TEST(Client, ASchedulerThatSaysNothingIsGivenUp) {
  const test::TemporaryDirectory state;
  const auto listens = wire::listen_at_path(wire::socket_path(state.path()), 0600);
  ASSERT_TRUE(listens.ok());
  Client client({.state = state.path(), .patience_seconds = 0.05, .answer_seconds = 0.3});
  const std::string file = state.write("large", std::string(20 << 20, 'x'));
  const auto error_of = [](const auto& result) {
    return result.ok() ? Error{ErrorCode::Io, "it is done", ""} : result.error();
  };
  const Error errors[] = {
      error_of(client.submit(request_of("a"), "key")),
      error_of(client.list("", false)),
      error_of(client.upload({{"large", file}})),
      error_of(client.fetch("j1", [](const auto&, auto) { return Status(); })),
      error_of(client.watch("", 0, [](const Overview&) { return true; })),
  };
  for (const Error& error : errors) {
    EXPECT_EQ(error.message,
              "the scheduler that serves " + state.path().string() + " does not answer");
    EXPECT_EQ(error.hint, "its process may be stopped, or its disk stand still: try again later");
  }
}

TEST(Client, FindsASchedulerThatWasStartedAnew) {
  FakeScheduler scheduler;
  Client client({.state = scheduler.state(), .waiting = [&] { scheduler.start(); }});
  ASSERT_TRUE(client.list("", false).ok());
  scheduler.stop();
  EXPECT_TRUE(client.list("", false).ok());
}

TEST(Client, WatchesAcrossARestart) {
  FakeScheduler scheduler;
  Client client({.state = scheduler.state()});
  std::vector<std::string> seen;
  const Status status = client.watch("", 0, [&](const Overview& overview) {
    if (!seen.empty() && seen.back() == overview.policy) return true;
    seen.push_back(overview.policy);
    v1::Snapshot next;
    next.set_policy(seen.size() == 1 ? "second" : "third");
    scheduler.say(next);
    if (seen.size() == 2) {
      scheduler.stop();
      scheduler.start();
    }
    return seen.size() < 3;
  });
  EXPECT_TRUE(status.ok());
  EXPECT_EQ(seen, (std::vector<std::string>{"fake", "second", "third"}));
}

TEST(Client, WatchTicksWithoutNewsAndEndsWhenToldTo) {
  FakeScheduler scheduler;
  std::atomic<bool> stop = false;
  Client client({.state = scheduler.state(), .stop = &stop});
  int shown = 0;
  const Status status = client.watch("", 0.001, [&](const Overview&) {
    if (++shown == 3) stop = true;
    return true;
  });
  EXPECT_TRUE(status.ok());
  EXPECT_EQ(shown, 3);
}

}  // namespace
}  // namespace attune::client
