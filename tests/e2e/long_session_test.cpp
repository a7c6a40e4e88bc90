// A hundred thousand trials in a world of arithmetic: memory must stay flat, and what a search
// writes after each round must not grow with the rounds before.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>

#include "compiler/frontend/op_spec/op_spec.h"
#include "targets/kinds.h"
#include "tuner/session/explorer_search.h"
#include "tuner/session/fakes_testing.h"
#include "tuner/session/run_local.h"

namespace attune::session {
namespace {

// One number after the other; its state is one number.
class Counting final : public Search {
 public:
  std::vector<space::Candidate> select(std::size_t count) override {
    std::vector<space::Candidate> proposals;
    while (proposals.size() < count) {
      const schedule::Trace trace = fake_trace(++last_);
      proposals.push_back({.trace = trace,
                           .trace_hash = schedule::hash(trace),
                           .predicted_us = 100 + static_cast<double>(last_ % 50)});
    }
    return proposals;
  }
  void update(std::span<const space::Candidate>) override {}
  std::string changes() override { return std::to_string(last_); }
  Status restore(std::span<const std::string>) override { return {}; }

 private:
  std::int64_t last_ = 0;
};

double resident_megabytes() {
  long pages = 0, resident = 0;
  if (FILE* file = std::fopen("/proc/self/statm", "re")) {
    if (std::fscanf(file, "%ld %ld", &pages, &resident) != 2) resident = 0;
    std::fclose(file);
  }
  return static_cast<double>(resident) * static_cast<double>(sysconf(_SC_PAGESIZE)) / 1e6;
}

// Notes how much memory there is after so many trials.
struct Weighing final : Observer {
  void progressed(const Progress& progress) override {
    if (progress.trials < 20'000) {
      early_megabytes = resident_megabytes();
    } else {
      late_megabytes = std::max(late_megabytes, resident_megabytes());
    }
  }
  double early_megabytes = 0, late_megabytes = 0;
};

TEST(LongSession, MemoryStaysFlatOverAHundredThousandTrials) {
  const std::string base = std::filesystem::exists("/dev/shm") ? "/dev/shm" : testing::TempDir();
  const std::string path = base + "/attune_long_session." + std::to_string(getpid()) + ".db";
  FakeWorld world;
  FakeBuilder builder(world);
  FakeRunner runner(world);
  FakeClock clock;
  {
    auto store = records::open_sqlite_store(path);
    ASSERT_TRUE(store.ok()) << store.error().message;
    Options options{.trials = 100'000, .batch = 500};
    options.search_name = "counting";
    auto session = Session::open({**store, builder, runner, clock}, fake_task(), "cpu -threads=1",
                                 std::make_unique<Counting>(), fake_trace(0), options);
    ASSERT_TRUE(session.ok()) << session.error().message;
    Weighing weighing;
    const Status status = run_local(**session, &weighing);
    EXPECT_TRUE(status.ok()) << status.error().message;
    EXPECT_EQ((*session)->report().trials, 100'000);
    EXPECT_EQ((*session)->report().best_trace, schedule::to_string(fake_trace(37)));
    // 80,000 more trials: their hashes and times, a hundred bytes each.
    EXPECT_LT(weighing.late_megabytes - weighing.early_megabytes, 24);
    RecordProperty("megabytes_at_20000", std::to_string(weighing.early_megabytes));
    RecordProperty("megabytes_most", std::to_string(weighing.late_megabytes));
    std::printf("%.1f MB after 20,000 trials, at most %.1f MB afterwards\n",
                weighing.early_megabytes, weighing.late_megabytes);
  }
  for (const char* end : {"", "-wal", "-shm"}) std::filesystem::remove(path + end);
}

TEST(LongSession, ASearchWritesWhatItDidAndNoMore) {
  const target::Target target = targets::this_machine().value();
  const auto op = op_spec::parse_op_spec("matmul:m=1536,n=2304,k=1536", target);
  ASSERT_TRUE(op.ok()) << op.error().message;
  Task task{.key = op->key, .name = op->spec, .flops = op->flops, .algorithms = {}};
  task.algorithms.push_back({"direct", std::make_shared<const ir::Program>(op->program)});
  for (const char* name : {"random", "genetic"}) {
    auto made = make_template_search(task, target, {.explorer = name}, 7);
    ASSERT_TRUE(made.ok()) << made.error().message;
    const std::unique_ptr<Search> search = std::move(*made);
    std::size_t bytes = 0, most = 0;
    for (int round = 0; round < 1000; ++round) {
      std::vector<space::Candidate> batch = search->select(100);
      ASSERT_EQ(batch.size(), 100U) << name << " round " << round;
      for (space::Candidate& each : batch) {
        each.time_us = 100 + static_cast<double>(each.trace_hash % 1000);
      }
      search->update(batch);
      const std::size_t size = search->changes().size();
      bytes += size;
      most = std::max(most, size);
    }
    std::printf("%s: %.1f MB for 100,000 trials, at most %.1f kB a round\n", name,
                static_cast<double>(bytes) * 1e-6, static_cast<double>(most) * 1e-3);
    EXPECT_LT(bytes, 20'000'000U) << name;
    EXPECT_LT(most, 40'000U) << name;
  }
}

}  // namespace
}  // namespace attune::session
