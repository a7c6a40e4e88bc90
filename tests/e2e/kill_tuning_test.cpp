// Tuning runs that are killed at random points, after they told of something and before they were
// done: what they told of is in the store, and going on repeats at most what was under way.
// ATTUNE_KILL_POINTS says how often (3), ATTUNE_KILL_SEED where.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <regex>
#include <set>
#include <thread>

#include "base/rng.h"
#include "base/temporary_directory_testing.h"
#include "tests/support/background_process.h"
#include "tests/support/process.h"
#include "tuner/records/store.h"

namespace attune {
namespace {

constexpr std::size_t kBatch = 24;

std::int64_t setting(const char* name, std::int64_t otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : std::atoll(text);
}

// The last number of trials that a run told of.
std::size_t acknowledged(const std::string& errors) {
  static const std::regex kTrials("([0-9]+)(/[0-9]+)? trials");
  std::size_t last = 0;
  for (std::sregex_iterator at(errors.begin(), errors.end(), kTrials), end; at != end; ++at) {
    last = std::stoul((*at)[1]);
  }
  return last;
}

bool is_trial(const records::Record& record) {
  return !std::holds_alternative<outcome::BuildFailed>(record.outcome) &&
         !std::holds_alternative<outcome::InfrastructureLost>(record.outcome);
}

class KillTuning : public ::testing::Test {
 protected:
  // The records, oldest first; sessions that cannot be loaded fail the test.
  std::vector<records::Record> records(std::size_t& unfinished) const {
    unfinished = 0;
    auto store = records::open_sqlite_store_for_reading(file());
    if (!store.ok()) {
      ADD_FAILURE() << store.error().message;
      return {};
    }
    auto all = (*store)->list({});
    EXPECT_TRUE(all.ok());
    std::reverse(all->begin(), all->end());
    std::set<records::SessionId> sessions;
    for (const records::Record& record : *all) sessions.insert(record.session);
    for (const records::SessionId id : sessions) {
      const auto session = (*store)->load_session(id);
      EXPECT_TRUE(session.ok()) << session.error().message;
      if (!session.ok()) continue;
      for (const auto& each : session->candidates) unfinished += each.record ? 0 : 1;
    }
    return *all;
  }
  std::string file() const { return directory_.file("records.db"); }

  // Kills the command some time after it told of its first trials; what it had told then, or
  // nothing when it was done before. The time begins anew with an empty store.
  std::optional<std::size_t> kill_in_the_middle(const std::vector<std::string>& words,
                                                double most_seconds, Rng& rng) const {
    empty_store();
    test::BackgroundProcess tuning(words, environment());
    if (!tuning.wait_for_error_text(" trials")) return std::nullopt;
    const double seconds = most_seconds * static_cast<double>(rng.below(1000)) * 1e-3;
    std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
    tuning.send_signal(SIGKILL);
    const test::ProcessResult killed = tuning.finish();
    if (killed.status != 128 + SIGKILL) return std::nullopt;
    return acknowledged(killed.errors);
  }

  // Kills the command and lets it go on; `rounds` may be open at once.
  void kill_and_resume(std::vector<std::string> words, double most_seconds, std::size_t rounds,
                       Rng& rng) const {
    words.insert(words.begin(), test::attune_program());
    words.insert(words.end(), {"--threads", "1", "--history", "none", "--records", file()});
    // A machine may be so quick that it is done first: then sooner.
    std::optional<std::size_t> told;
    for (int tries = 0; tries < 8 && !told; ++tries, most_seconds /= 2) {
      told = kill_in_the_middle(words, most_seconds, rng);
    }
    ASSERT_TRUE(told.has_value()) << "no kill hit anything";
    std::size_t unfinished = 0;
    const std::vector<records::Record> before = records(unfinished);
    const auto trials =
        static_cast<std::size_t>(std::count_if(before.begin(), before.end(), is_trial));
    EXPECT_GT(*told, 0u);
    EXPECT_GE(trials, *told);
    EXPECT_LE(unfinished, rounds * kBatch);

    words.push_back("--resume");
    const test::ProcessResult resumed = test::run_process(words, environment());
    EXPECT_EQ(resumed.status, 0) << resumed.errors;
    const std::vector<records::Record> after = records(unfinished);
    EXPECT_EQ(unfinished, 0u);
    ASSERT_GE(after.size(), before.size());
    std::set<std::pair<records::SessionId, std::int64_t>> numbers;
    for (std::size_t i = 0; i < after.size(); ++i) {
      EXPECT_TRUE(numbers.insert({after[i].session, after[i].number}).second)
          << "candidate " << after[i].number << " was recorded twice";
      if (i >= before.size()) continue;
      EXPECT_EQ(after[i].id, before[i].id);
      EXPECT_EQ(after[i].trace, before[i].trace);
    }
  }

  std::map<std::string, std::string> environment() const {
    return {{"XDG_DATA_HOME", directory_.path().string()}};
  }
  void empty_store() const {
    for (const char* end : {"", "-wal", "-shm"}) std::filesystem::remove(file() + end);
  }

  test::TemporaryDirectory directory_;
};

TEST_F(KillTuning, AnOperator) {
  Rng rng(static_cast<std::uint64_t>(setting("ATTUNE_KILL_SEED", 1)));
  for (std::int64_t point = 0; point < setting("ATTUNE_KILL_POINTS", 3); ++point) {
    SCOPED_TRACE(fmt::format("point {}", point));
    kill_and_resume({"tune", "matmul:m=64,n=64,k=64", "--trials", "70"}, 1, 2, rng);
  }
}

TEST_F(KillTuning, AModel) {
  Rng rng(static_cast<std::uint64_t>(setting("ATTUNE_KILL_SEED", 2)));
  for (std::int64_t point = 0; point < (setting("ATTUNE_KILL_POINTS", 3) + 2) / 3; ++point) {
    SCOPED_TRACE(fmt::format("point {}", point));
    kill_and_resume({"tune", "mlp", "--trials", "20", "-o", directory_.file("mlp.attune")}, 2, 2,
                    rng);
  }
}

}  // namespace
}  // namespace attune
