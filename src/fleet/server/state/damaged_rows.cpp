#include "fleet/server/state/damaged_rows.h"

#include <fmt/format.h>

#include <set>
#include <tuple>
#include <utility>

#include "fleet/jobs/book/row_checks.h"
#include "fleet/server/state/stored_rows.h"
#include "fleet/wire/limits.h"

namespace attune::server {
namespace {

constexpr std::int64_t kVersion = 2;  // files are brought up to date before
constexpr std::size_t kLongestWords = 300;

using StageKey = std::tuple<std::string, std::int64_t, std::int64_t>;

struct DamagedJob {
  jobs::JobRow instead;
  std::string why;
};

struct Damage {
  std::vector<DamagedJob> jobs = {};
  std::vector<StageKey> stages = {};
  std::string why_stages = {};      // of the first
  std::set<std::string> open = {};  // jobs that have not ended
  bool of_open = false;             // of one of these: nothing can be mended
};

// Whatever bytes they were: a text that every reader takes.
std::string words_of(const std::string& bytes, std::size_t most = kLongestWords) {
  std::string words;
  for (const char c : bytes.substr(0, most)) {
    words += c >= 0x20 && c < 0x7f ? c : '?';
  }
  return words;
}

jobs::JobRow row_instead(const jobs::JobRow& damaged, const std::string& name,
                         const std::string& why, double now) {
  jobs::JobRow row{.number = damaged.number, .key = damaged.key, .foreign = damaged.foreign};
  row.job.set_id(fmt::format("j{}", row.number));
  row.job.set_uid(damaged.job.uid());
  row.job.mutable_spec()->set_name(words_of(name, wire::kLongestName));
  row.job.mutable_spec()->set_user(words_of(damaged.job.spec().user(), wire::kLongestName));
  row.job.mutable_spec()->set_model(words_of(damaged.job.spec().model()));
  row.job.set_state(v1::FAILED);
  row.job.set_reason("its row in the state file was damaged and is set aside: " + words_of(why));
  row.job.set_ended_at(now);
  return row;
}

Status find_jobs(const sqlite::Database& database, double now, Damage& damage) {
  ATTUNE_ASSIGN(sqlite::Statement statement,
                database.prepare(fmt::format("SELECT {}, name, state FROM jobs ORDER BY number",
                                             job_columns(kVersion))));
  while (true) {
    ATTUNE_ASSIGN(const bool there, statement.step());
    if (!there) return {};
    jobs::JobRow row;
    const Status good = read_job(statement, row);
    const bool readable = !row.job.id().empty();
    const std::int64_t state = readable ? std::int64_t{row.job.state()} : statement.integer(7);
    const bool ended = state >= v1::DONE;
    if (!ended) damage.open.insert(row.job.id());
    if (good.ok()) continue;
    damage.of_open = damage.of_open || !ended;
    const std::string& why = good.error().message;
    damage.jobs.push_back({row_instead(row, statement.text(6), why, now), why});
  }
}

Status find_stages(const sqlite::Database& database, Damage& damage) {
  ATTUNE_ASSIGN(sqlite::Statement statement,
                database.prepare(fmt::format("SELECT {} FROM stages", kStageColumns)));
  while (true) {
    ATTUNE_ASSIGN(const bool there, statement.step());
    if (!there) return {};
    jobs::StageRow row;
    const Status good = read_stage(statement, row);
    if (good.ok()) continue;
    damage.of_open = damage.of_open || damage.open.contains(row.bar.job());
    if (damage.stages.empty()) damage.why_stages = good.error().message;
    damage.stages.emplace_back(row.bar.job(), row.epoch, row.stage);
  }
}

Status set_job_aside(sqlite::Database& database, const DamagedJob& job) {
  ATTUNE_ASSIGN(sqlite::Statement keep,
                database.prepare("INSERT OR REPLACE INTO set_aside SELECT number, id, name, state, "
                                 "key, wish, is_foreign, job, uid, ? FROM jobs WHERE number = ?"));
  ATTUNE_RETURN_IF_ERROR(keep.bind(job.why, job.instead.number).run());
  ATTUNE_ASSIGN(sqlite::Statement put,
                database.prepare("UPDATE jobs SET id = ?, name = ?, state = ?, wish = -1, job = ? "
                                 "WHERE number = ?"));
  const std::string bytes = job.instead.job.SerializeAsString();
  return put
      .bind(job.instead.job.id(), job.instead.job.spec().name(),
            std::int64_t{job.instead.job.state()}, sqlite::Blob{bytes}, job.instead.number)
      .run();
}

Status remove_stage(sqlite::Database& database, const StageKey& key) {
  ATTUNE_ASSIGN(sqlite::Statement remove,
                database.prepare("DELETE FROM stages WHERE job = ? AND epoch = ? AND stage = ?"));
  return remove.bind(std::get<0>(key), std::get<1>(key), std::get<2>(key)).run();
}

}  // namespace

Result<std::vector<std::string>> set_damaged_aside(sqlite::Database& database, double now) {
  std::vector<std::string> lines;
  Damage damage;
  ATTUNE_ASSIGN(sqlite::Transaction transaction, sqlite::Transaction::begin(database));
  ATTUNE_RETURN_IF_ERROR(find_jobs(database, now, damage));
  ATTUNE_RETURN_IF_ERROR(find_stages(database, damage));
  if (damage.of_open) return lines;
  for (const DamagedJob& job : damage.jobs) {
    if (!jobs::check_row(job.instead).ok()) return std::vector<std::string>();
    ATTUNE_RETURN_IF_ERROR(set_job_aside(database, job));
    lines.push_back(fmt::format("job j{} ({}) was damaged and is set aside: {}", job.instead.number,
                                job.instead.job.spec().name(), job.why));
  }
  for (const StageKey& key : damage.stages) {
    ATTUNE_RETURN_IF_ERROR(remove_stage(database, key));
  }
  if (!damage.stages.empty()) {
    lines.push_back(fmt::format("{} damaged stages of jobs that have ended were removed: {}",
                                damage.stages.size(), damage.why_stages));
  }
  ATTUNE_RETURN_IF_ERROR(transaction.commit());
  return lines;
}

}  // namespace attune::server
