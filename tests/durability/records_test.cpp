// records.db when power fails: every call of the store that returned is there afterwards, whole and
// once, and tuning goes on with it.
#include <gtest/gtest.h>

#include "tests/support/disk/power_cuts.h"
#include "tuner/records/sample_records_testing.h"
#include "tuner/records/sqlite_open.h"
#include "tuner/records/sqlite_schema.h"
#include "tuner/records/sqlite_store.h"

namespace attune::records {
namespace {

namespace fs = std::filesystem;
using test::Account;

std::string path_in(const fs::path& folder) { return (folder / "records.db").string(); }

std::string text_of(const Session& session) {
  std::string text = "session " + std::to_string(session.id) + "\n";
  for (const SessionRound& round : session.rounds) {
    text += "round " + std::to_string(round.round) + " " + std::to_string(round.finished) + "\n";
  }
  for (const SessionCandidate& candidate : session.candidates) {
    text += std::to_string(candidate.number) + " " + std::to_string(candidate.round) + " " +
            (candidate.record ? content(*candidate.record) : "open") + "\n";
  }
  for (const std::string& changes : session.changes) text += changes + "\n";
  return text;
}

// All that the store knows of the tasks of this test.
std::string text_of(Store& store) {
  std::string text;
  const auto records = store.list({});
  if (!records.ok()) return records.error().message;
  for (const Record& record : *records) text += content(record) + "\n";
  const auto hints = store.hints({});
  if (!hints.ok()) return hints.error().message;
  for (const Hint& hint : *hints) text += hint.trace + "\n";
  const auto id = store.find_resumable_session(kTask, kTarget, "sa");
  if (!id.ok()) return id.error().message;
  if (!*id) return text;
  const auto session = store.load_session(**id);
  return session.ok() ? text + text_of(*session) : session.error().message;
}

std::string content_in(const fs::path& folder) {
  std::string text;
  {
    const auto store = open_sqlite_store(path_in(folder));
    if (!store.ok()) return store.error().message;
    text = text_of(**store);
  }
  const std::string sound = test::integrity_of(path_in(folder));
  return sound == "ok" ? text : sound;
}

std::string random_state(Rng& rng) {
  return std::string(rng.below(rng.chance(0.1) ? 60'000 : 2'000), 's');
}

// The next stage of the session, or something that has nothing to do with it.
Status random_call(Store& store, SessionId id, Rng& rng) {
  if (rng.chance(0.1)) {
    std::vector<Record> records;
    for (std::uint64_t i = 1 + rng.below(20); i > 0; --i) {
      records.push_back(sample_record(static_cast<std::int64_t>(rng.below(1 << 30)), timing(7)));
    }
    return store.add_new(records).ok() ? Status() : Status(invalid("no record was added"));
  }
  if (rng.chance(0.05)) return store.prune(5).ok() ? Status() : Status(invalid("nothing pruned"));
  ATTUNE_ASSIGN(const Session now, store.load_session(id));
  if (now.rounds.empty() || now.rounds.back().finished) {
    std::vector<SessionCandidate> candidates;
    for (std::uint64_t i = 1 + rng.below(16); i > 0; --i) {
      candidates.push_back(
          sample_candidate(static_cast<std::int64_t>(now.candidates.size() + candidates.size())));
    }
    const auto round = static_cast<std::int64_t>(now.rounds.size());
    return store.append_selected(id, round, candidates, random_state(rng));
  }
  std::vector<Record> batch;
  for (const SessionCandidate& candidate : now.candidates) {
    if (candidate.record || batch.size() == 8) continue;
    batch.push_back(sample_record(candidate.number, timing(5)));
  }
  if (batch.empty()) return store.finish_round(id, now.rounds.back().round, random_state(rng));
  const auto ids = store.mark_profiled(id, batch);
  return ids.ok() ? Status() : Status(ids.error());
}

void live(const fs::path& folder, Rng& rng, Account& account) {
  auto store = open_sqlite_store(path_in(folder));
  ASSERT_TRUE(store.ok()) << store.error().message;
  const auto step = [&](const auto& call) {
    const std::size_t number = account.begin();
    const Status status = call();
    ASSERT_TRUE(status.ok()) << status.error().message;
    account.acknowledge(number);
    account.now(number, text_of(**store));
  };
  auto id = (*store)->find_resumable_session(kTask, kTarget, "sa");
  ASSERT_TRUE(id.ok());
  if (!*id) {
    step([&]() -> Status {
      ATTUNE_ASSIGN(*id, (*store)->create_session(sample_spec()));
      return {};
    });
  }
  for (std::uint64_t calls = rng.below(20); calls > 0; --calls) {
    step([&] { return random_call(**store, **id, rng); });
  }
}

// Nothing, or a file of some earlier program.
void prepare(const fs::path& folder, Rng& rng) {
  if (rng.chance(0.6)) return;
  auto database =
      sqlite::Database::open(path_in(folder), 6 /* read, write, create */, "", kFileWords);
  ASSERT_TRUE(database.ok());
  ASSERT_TRUE(migrate(*database, migrations().first(1 + rng.below(migrations().size()))).ok());
  SqliteStore store(std::move(database).value());
  std::vector<Record> records;
  for (int i = 0; i < 30; ++i) records.push_back(sample_record(i, timing(100 + i)));
  ASSERT_TRUE(store.add(records).ok());
}

const test::Subject kRecords{prepare, content_in, live};

TEST(PowerCut, LosesNothingThatTheRecordsHeld) { test::expect_nothing_lost(kRecords); }

TEST(PowerCut, LosesNothingWithoutAWriteAheadLog) {
  test::expect_nothing_lost_without_log(kRecords);
}

TEST(PowerCut, OfADiskThatSyncsNothingIsFound) { test::expect_losses_without_syncs(kRecords); }

}  // namespace
}  // namespace attune::records
