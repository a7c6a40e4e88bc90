// scheduler.db when power fails: jobs and stages that the journal acknowledged are there
// afterwards, as they were written, and the scheduler goes on with them.
#include <gtest/gtest.h>

#include <condition_variable>
#include <map>
#include <mutex>
#include <set>

#include "fleet/jobs/book/book_testing.h"
#include "fleet/server/journal.h"
#include "tests/support/disk/power_cuts.h"

namespace attune::server {
namespace {

namespace fs = std::filesystem;
using test::Account;

std::string path_in(const fs::path& folder) { return (folder / "scheduler.db").string(); }

std::string text_of(const jobs::JobRow& row) {
  return std::to_string(row.number) + " " + row.key + " " +
         std::to_string(row.wish ? *row.wish : -1) + " " + std::to_string(row.foreign) + " " +
         row.job.SerializeAsString();
}
std::string text_of(const jobs::StageRow& row) {
  return std::to_string(row.epoch) + " " + std::to_string(row.stage) + " " +
         row.bar.SerializeAsString() + " " + std::to_string(row.end);
}

// What the scheduler should know.
struct Model {
  std::map<std::int64_t, jobs::JobRow> jobs = {};
  std::vector<jobs::StageRow> stages = {};

  std::string text() const {
    std::string text;
    for (const auto& [number, row] : jobs) text += text_of(row) + "\n";
    text += "stages\n";
    for (const jobs::StageRow& row : stages) text += text_of(row) + "\n";
    return text;
  }
};

Result<Model> read_model(const StateFile& file) {
  Model model;
  ATTUNE_ASSIGN(std::vector<jobs::JobRow> rows, file.read_jobs());
  ATTUNE_ASSIGN(model.stages, file.read_stages());
  for (jobs::JobRow& row : rows) {
    if (!model.jobs.emplace(row.number, std::move(row)).second) return invalid("a job twice");
  }
  return model;
}

// The rows, after the file was opened to write and a book was made of them.
std::string content(const fs::path& folder) {
  Result<Model> model = invalid("not read");
  {
    auto file = StateFile::open(path_in(folder));
    if (!file.ok()) return file.error().message;
    model = read_model(*file);
    if (!model.ok()) return model.error().message;
    std::vector<jobs::JobRow> rows;
    for (const auto& [number, row] : model->jobs) rows.push_back(row);
    const std::size_t count = rows.size();
    jobs::Book book(jobs::options(), std::move(rows), 1000);
    book.recall(model->stages);
    const auto snapshot = book.snapshot(jobs::kMe, {}, 1000);
    if (!snapshot.ok()) return snapshot.error().message;
    if (static_cast<std::size_t>(snapshot->jobs_size()) != count) return "the book lacks a job";
  }
  const std::string sound = test::integrity_of(path_in(folder));
  return sound == "ok" ? model->text() : sound;
}

jobs::JobRow new_job(std::int64_t number, Rng& rng) {
  jobs::JobRow row{.number = number};
  row.job.set_id("j" + std::to_string(number));
  row.job.set_uid(::geteuid());
  row.job.mutable_spec()->set_name("job " + std::to_string(number));
  row.job.mutable_spec()->set_device("cpu");
  row.job.mutable_spec()->set_priority(1);
  row.job.mutable_spec()->set_prefetch(1);
  row.job.mutable_spec()->set_options_json(
      std::string(rng.below(rng.chance(0.1) ? 40'000 : 600), 'o'));
  if (rng.chance(0.5)) row.key = "key " + std::to_string(number);
  return row;
}

// What may happen in one turn of the scheduler.
void random_turn(Model& model, Rng& rng, std::vector<jobs::JobRow>& rows,
                 std::vector<jobs::StageRow>& stages) {
  const auto last = model.jobs.empty() ? 0 : model.jobs.rbegin()->first;
  for (std::uint64_t i = rng.below(3); i > 0 || model.jobs.empty(); i -= i > 0 ? 1 : 0) {
    const auto number = model.jobs.empty() ? 1 : model.jobs.rbegin()->first + 1;
    model.jobs[number] = new_job(number, rng);
    rows.push_back(model.jobs[number]);
  }
  if (last > 0 && rng.chance(0.7)) {
    jobs::JobRow& changed = model.jobs.at(rng.between(1, last));
    changed.job.set_trials(changed.job.trials() + 16);
    if (rng.chance(0.2)) changed.wish = v1::STOP;
    rows.push_back(changed);
  }
  for (std::uint64_t i = rng.below(4); i > 0; --i) {
    jobs::StageRow stage{.epoch = 1, .stage = static_cast<std::int64_t>(model.stages.size())};
    stage.bar.set_job("j1");
    stage.bar.set_kind("profile");
    stage.bar.set_pool("cpu");
    stage.bar.add_slots(0);
    stage.bar.set_ended_at(static_cast<double>(model.stages.size()) + 1);
    model.stages.push_back(stage);
    stages.push_back(stage);
  }
}

// Waits for acknowledgements, which come from the journal's thread.
class Waiting {
 public:
  void expect() { expected_ += 1; }
  void arrived() {
    const std::lock_guard lock(mutex_);
    arrived_ += 1;
    changed_.notify_one();
  }
  void wait() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return arrived_ == expected_; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  int expected_ = 0, arrived_ = 0;
};

void live(const fs::path& folder, Rng& rng, Account& account) {
  auto file = StateFile::open(path_in(folder));
  ASSERT_TRUE(file.ok()) << file.error().message;
  ASSERT_TRUE(file->write_pools({{"host", 2}, {"cpu", 1}}).ok());
  auto model = read_model(*file);
  ASSERT_TRUE(model.ok()) << model.error().message;
  Waiting waiting;
  Journal journal(std::move(*file), [](const Error& error) { ADD_FAILURE() << error.message; });
  for (std::uint64_t turn = rng.below(20); turn > 0; --turn) {
    std::vector<jobs::JobRow> rows;
    std::vector<jobs::StageRow> stages;
    random_turn(*model, rng, rows, stages);
    const std::size_t step = account.begin();
    account.now(step, model->text());
    waiting.expect();
    journal.append({.jobs = std::move(rows), .stages = std::move(stages)},
                   {[&, step](const Status& written) {
                     EXPECT_TRUE(written.ok());
                     account.acknowledge(step);
                     waiting.arrived();
                   }});
    if (rng.chance(0.7)) waiting.wait();
  }
  waiting.wait();
}

// Nothing, or a file of the program before jobs had owners.
void prepare(const fs::path& folder, Rng& rng) {
  if (rng.chance(0.7)) return;
  auto file = StateFile::open(path_in(folder));
  ASSERT_TRUE(file.ok());
  Model model;
  std::vector<jobs::JobRow> rows;
  std::vector<jobs::StageRow> stages;
  random_turn(model, rng, rows, stages);
  ASSERT_TRUE(file->write({.jobs = rows, .stages = stages}).ok());
  auto database = sqlite::Database::open_file(path_in(folder), sqlite::Database::Access::Write, {});
  ASSERT_TRUE(database.ok());
  ASSERT_TRUE(database
                  ->execute("DROP INDEX jobs_key; ALTER TABLE jobs DROP COLUMN uid; "
                            "CREATE UNIQUE INDEX jobs_key ON jobs(key) WHERE key <> ''; "
                            "PRAGMA user_version=1")
                  .ok());
}

const test::Subject kState{prepare, content, live};

TEST(PowerCut, LosesNothingThatTheSchedulerAcknowledged) { test::expect_nothing_lost(kState); }

TEST(PowerCut, LosesNothingWithoutAWriteAheadLog) { test::expect_nothing_lost_without_log(kState); }

TEST(PowerCut, OfADiskThatSyncsNothingIsFound) { test::expect_losses_without_syncs(kState); }

}  // namespace
}  // namespace attune::server
