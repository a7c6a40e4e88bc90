// scheduler.db when power fails: jobs and stages that the journal acknowledged are there
// afterwards, as they were written, with the files that were sent for them, those that were
// forgotten are not, and the scheduler goes on with them.
#include <gtest/gtest.h>

#include <algorithm>
#include <condition_variable>
#include <fstream>
#include <iterator>
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
  std::int64_t newest_stage = 0;

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
  for (const jobs::StageRow& row : model.stages) {
    model.newest_stage = std::max(model.newest_stage, row.stage);
  }
  for (jobs::JobRow& row : rows) {
    if (!model.jobs.emplace(row.number, std::move(row)).second) return invalid("a job twice");
  }
  return model;
}

// What was sent for a job, which has a name in the folder before the job has a row.
std::string files_of(std::int64_t number) { return "files-" + std::to_string(number); }

// The rows, after the file was opened to write and a book was made of them.
std::string content(const fs::path& folder) {
  Result<Model> model = invalid("not read");
  {
    auto file = StateFile::open(path_in(folder));
    if (!file.ok()) return file.error().message;
    model = read_model(*file);
    if (!model.ok()) return model.error().message;
    std::vector<jobs::JobRow> rows;
    for (const auto& [number, row] : model->jobs) {
      rows.push_back(row);
      const std::string& files = row.job.spec().files();
      if (!files.empty() && !fs::exists(folder / files)) return "job without its " + files;
    }
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
  // Some have the key of one that was forgotten before.
  if (rng.chance(0.8)) row.key = "key " + std::to_string(rng.below(6));
  if (rng.chance(0.3)) row.job.mutable_spec()->set_files(files_of(number));
  if (rng.chance(0.3)) {
    row.job.set_state(v1::DONE);
    row.job.set_result_json(std::string(rng.below(rng.chance(0.2) ? 60'000 : 600), 'r'));
  }
  return row;
}

bool key_is_taken(const Model& model, const std::string& key) {
  return std::any_of(model.jobs.begin(), model.jobs.end(),
                     [&](const auto& each) { return !key.empty() && each.second.key == key; });
}

void forget(Model& model, std::int64_t number, Changes& changes) {
  const std::string id = "j" + std::to_string(number);
  model.jobs.erase(number);
  std::erase_if(model.stages, [&](const jobs::StageRow& row) { return row.bar.job() == id; });
  std::erase_if(changes.jobs, [&](const jobs::JobRow& row) { return row.number == number; });
  changes.forgotten.push_back({number, id});
}

// One that may be forgotten: never the newest, so that no number is given twice; 0: none.
std::int64_t some_old_job(const Model& model, Rng& rng) {
  if (model.jobs.size() < 2) return 0;
  auto chosen = model.jobs.begin();
  std::advance(chosen, static_cast<long>(rng.below(model.jobs.size() - 1)));
  return chosen->first;
}

// What may happen in one turn of the scheduler.
Changes random_turn(Model& model, Rng& rng) {
  Changes changes;
  const auto last = model.jobs.empty() ? 0 : model.jobs.rbegin()->first;
  const auto some_job = [&] {
    auto chosen = model.jobs.begin();
    std::advance(chosen, static_cast<long>(rng.below(model.jobs.size())));
    return chosen->first;
  };
  for (std::uint64_t i = rng.below(4); i > 0 && last > 0; --i) {
    const std::int64_t job = some_job();
    jobs::StageRow stage{.epoch = 1, .stage = ++model.newest_stage};
    stage.bar.set_job("j" + std::to_string(job));
    stage.bar.set_kind("profile");
    stage.bar.set_pool("cpu");
    stage.bar.add_slots(0);
    stage.bar.set_ended_at(static_cast<double>(model.newest_stage) + 1);
    model.stages.push_back(stage);
    changes.stages.push_back(stage);
  }
  if (last > 0 && rng.chance(0.7)) {
    jobs::JobRow& changed = model.jobs.at(some_job());
    changed.job.set_trials(changed.job.trials() + 16);
    if (rng.chance(0.2)) changed.wish = v1::STOP;
    changes.jobs.push_back(changed);
  }
  for (std::uint64_t i = rng.below(4); i > 0 && rng.chance(0.6); --i) {
    if (const std::int64_t job = some_old_job(model, rng); job != 0) forget(model, job, changes);
  }
  for (std::uint64_t i = rng.below(3); i > 0 || model.jobs.empty(); i -= i > 0 ? 1 : 0) {
    const auto number = model.jobs.empty() ? 1 : model.jobs.rbegin()->first + 1;
    jobs::JobRow made = new_job(number, rng);
    if (key_is_taken(model, made.key)) made.key.clear();
    changes.jobs.push_back(made);
    model.jobs[number] = std::move(made);
  }
  return changes;
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

// The oldest stages go. It is done when something that was appended after it has been acknowledged,
// and that was appended when the journal had taken up the batch with it.
void trim(Journal& journal, Model& model, Rng& rng, Account& account, Waiting& waiting) {
  const std::size_t kept = model.stages.size() - rng.below(model.stages.size());
  model.stages.erase(model.stages.begin(), model.stages.end() - static_cast<long>(kept));
  const std::size_t step = account.begin();
  account.now(step, model.text());
  journal.trim_stages(0, static_cast<std::int64_t>(kept));
  for (int i = 0; i < 2; ++i) {
    waiting.expect();
    journal.append({}, {[&](const Status&) { waiting.arrived(); }});
    waiting.wait();
  }
  account.acknowledge(step);
}

void live(const fs::path& folder, Rng& rng, Account& account) {
  auto file = StateFile::open(path_in(folder));
  ASSERT_TRUE(file.ok()) << file.error().message;
  ASSERT_TRUE(file->write_pools({{"host", 2}, {"cpu", 1}}).ok());
  if (rng.chance(0.5)) {
    ASSERT_TRUE(file->shrink(4096).ok());
  }
  auto model = read_model(*file);
  ASSERT_TRUE(model.ok()) << model.error().message;
  Waiting waiting;
  Journal journal(
      std::move(*file), [](const Error& error) { ADD_FAILURE() << error.message; },
      [&](const std::string&) {
        account.disk().sync_folder();
        return Status();
      });
  for (std::uint64_t turn = rng.below(20); turn > 0; --turn) {
    Changes changes = random_turn(*model, rng);
    for (const jobs::JobRow& row : changes.jobs) {
      const std::string& files = row.job.spec().files();
      if (files.empty() || row.job.trials() > 0) continue;
      account.disk().make_file(files);
      changes.folders.push_back(folder);
    }
    const std::size_t step = account.begin();
    account.now(step, model->text());
    waiting.expect();
    journal.append(std::move(changes), {[&, step](const Status& written) {
                     EXPECT_TRUE(written.ok());
                     account.acknowledge(step);
                     waiting.arrived();
                   }});
    if (rng.chance(0.7)) waiting.wait();
    if (!model->stages.empty() && rng.chance(0.1)) {
      waiting.wait();
      trim(journal, *model, rng, account, waiting);
    }
  }
  waiting.wait();
}

// Nothing, or a file of the program before jobs had owners.
void prepare(const fs::path& folder, Rng& rng) {
  if (rng.chance(0.7)) return;
  auto file = StateFile::open(path_in(folder));
  ASSERT_TRUE(file.ok());
  Model model;
  const Changes changes = random_turn(model, rng);
  ASSERT_TRUE(file->write(changes).ok());
  for (const jobs::JobRow& row : changes.jobs) {
    if (!row.job.spec().files().empty()) std::ofstream(folder / row.job.spec().files());
  }
  auto database = sqlite::Database::open_file(path_in(folder), sqlite::Database::Access::Write, {});
  ASSERT_TRUE(database.ok());
  ASSERT_TRUE(database
                  ->execute("DROP INDEX jobs_key; ALTER TABLE jobs DROP COLUMN uid; "
                            "CREATE UNIQUE INDEX jobs_key ON jobs(key) WHERE key <> ''; "
                            "DROP TABLE set_aside; PRAGMA user_version=1")
                  .ok());
}

const test::Subject kState{prepare, content, live};

TEST(PowerCut, LosesNothingThatTheSchedulerAcknowledged) { test::expect_nothing_lost(kState); }

TEST(PowerCut, LosesNothingWithoutAWriteAheadLog) { test::expect_nothing_lost_without_log(kState); }

TEST(PowerCut, OfADiskThatSyncsNothingIsFound) { test::expect_losses_without_syncs(kState); }

}  // namespace
}  // namespace attune::server
