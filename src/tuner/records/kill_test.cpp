// A child runs sessions and reports over a pipe what the store has acknowledged; it is killed at
// random points. Afterwards everything it reported must be there, and no step half.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <set>
#include <vector>

#include "base/rng.h"
#include "tuner/records/sample_records_testing.h"
#include "tuner/records/sqlite_open.h"
#include "tuner/records/sqlite_store.h"

namespace attune::records {
namespace {

constexpr std::int64_t kPerRound = 8;
constexpr std::int64_t kPerBatch = 4;

enum class Step : std::int64_t { Selected, Profiled, Finished };

// What the child says after a call has returned; small enough to be written whole.
struct Acknowledged {
  Step step;
  std::int64_t round;
  std::int64_t value;  // Selected, Profiled: the first candidate of the step
};

std::string state_after(std::int64_t round, const char* step) {
  return step + std::to_string(round) + std::string(3000, 'x');
}

// Goes on with the session for ever, from wherever the store says that it is.
void run_session(const std::string& path, SessionId session, int report_to) {
  auto store = open_sqlite_store(path).value();
  const auto say = [&](Acknowledged done) {
    CHECK(::write(report_to, &done, sizeof done) == sizeof done, "no reader");
  };
  while (true) {
    const Session now = store->load_session(session).value();
    const bool open = !now.rounds.empty() && !now.rounds.back().finished;
    if (!open) {
      const auto round = static_cast<std::int64_t>(now.rounds.size());
      const auto first = static_cast<std::int64_t>(now.candidates.size());
      std::vector<SessionCandidate> candidates;
      for (std::int64_t i = 0; i < kPerRound; ++i)
        candidates.push_back(sample_candidate(first + i));
      const Status status =
          store->append_selected(session, round, candidates, state_after(round, "s"));
      CHECK(status.ok(), status.error().message);
      say({Step::Selected, round, first});
      continue;
    }
    const std::int64_t round = now.rounds.back().round;
    std::vector<Record> batch;
    for (const SessionCandidate& c : now.candidates) {
      if (c.record || static_cast<std::int64_t>(batch.size()) == kPerBatch) continue;
      batch.push_back(sample_record(c.number, timing(5)));
      batch.back().number = c.number;
    }
    if (batch.empty()) {
      const Status status = store->finish_round(session, round, state_after(round, "f"));
      CHECK(status.ok(), status.error().message);
      say({Step::Finished, round, 0});
    } else {
      const auto ids = store->mark_profiled(session, batch);
      CHECK(ids.ok(), ids.error().message);
      say({Step::Profiled, round, batch.front().number});
    }
  }
}

// Starts a child, lets it acknowledge a few steps and a bit more, kills it; all that it said.
std::vector<Acknowledged> run_and_kill(const std::string& path, SessionId session, Rng& rng) {
  int ends[2];
  CHECK(::pipe(ends) == 0, "no pipe");
  const pid_t child = ::fork();
  CHECK(child >= 0, "no child");
  if (child == 0) {
    ::close(ends[0]);
    run_session(path, session, ends[1]);
    ::_exit(0);
  }
  ::close(ends[1]);
  std::vector<Acknowledged> said;
  Acknowledged next;
  const std::uint64_t enough = rng.below(12);
  while (said.size() < enough && ::read(ends[0], &next, sizeof next) == sizeof next) {
    said.push_back(next);
  }
  volatile std::uint64_t spin = rng.below(2000000);
  while (spin > 0) spin = spin - 1;
  ::kill(child, SIGKILL);
  int status = 0;
  CHECK(::waitpid(child, &status, 0) == child, "lost the child");
  EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) << status;
  while (::read(ends[0], &next, sizeof next) == sizeof next) said.push_back(next);
  ::close(ends[0]);
  return said;
}

void expect_whole(const Session& session) {
  ASSERT_EQ(session.candidates.size(), session.rounds.size() * kPerRound);
  std::size_t at = 0;
  for (const SessionRound& round : session.rounds) {
    std::int64_t profiled = 0;
    for (std::int64_t i = 0; i < kPerRound; ++i, ++at) {
      EXPECT_EQ(session.candidates[at].round, round.round);
      profiled += session.candidates[at].record.has_value() ? 1 : 0;
    }
    EXPECT_EQ(profiled % kPerBatch, 0) << "a batch was stored half";
    EXPECT_TRUE(!round.finished || profiled == kPerRound);
  }
  if (session.rounds.empty()) return;
  const SessionRound& last = session.rounds.back();
  ASSERT_FALSE(session.changes.empty());
  EXPECT_EQ(session.changes.back(), state_after(last.round, last.finished ? "f" : "s"));
  std::size_t steps = session.rounds.size();
  for (const SessionRound& round : session.rounds) steps += round.finished ? 1 : 0;
  EXPECT_EQ(session.changes.size(), steps) << "each stage once";
}

TEST(Kill, NothingAcknowledgedIsLostAndNothingIsHalf) {
  TemporaryDirectory directory;
  const std::string path = directory.file("records.db");
  const SessionId id = open_sqlite_store(path).value()->create_session(sample_spec()).value();
  Rng rng(20);
  std::vector<Acknowledged> said;
  for (int kill = 0; kill < 20; ++kill) {
    for (const Acknowledged& step : run_and_kill(path, id, rng)) said.push_back(step);
    SqliteStore store(open_for_writing(path).value());
    EXPECT_EQ(store.database().text("PRAGMA integrity_check").value(), "ok");
    const Session session = store.load_session(id).value();
    expect_whole(session);
    for (const Acknowledged& step : said) {
      ASSERT_LT(step.round, static_cast<std::int64_t>(session.rounds.size()));
      if (step.step == Step::Finished) {
        EXPECT_TRUE(session.rounds[static_cast<std::size_t>(step.round)].finished);
      } else if (step.step == Step::Profiled) {
        for (std::int64_t i = 0; i < kPerBatch; ++i) {
          const auto& c = session.candidates.at(static_cast<std::size_t>(step.value + i));
          EXPECT_TRUE(c.record.has_value());
        }
      }
    }
    EXPECT_EQ(store.list({})->size() % kPerBatch, 0u);
  }
  EXPECT_GT(said.size(), 20u) << "the children hardly ran";
}

}  // namespace
}  // namespace attune::records
