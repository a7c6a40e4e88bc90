#include "fleet/server/state_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <filesystem>

#include "base/file_system.h"
#include "base/sqlite/durable.h"
#include "fleet/jobs/book/row_checks.h"
#include "fleet/server/state/damaged_rows.h"
#include "fleet/server/state/stored_rows.h"
#include "fleet/wire/unix_socket.h"

namespace attune::server {
namespace {

constexpr const char* kOther = "name another folder with --state DIR";
constexpr sqlite::FileWords kWords{
    "state file", kOther,
    "free some space and start the scheduler again; what it acknowledged is safe"};

constexpr std::int64_t kApplication = 0x4174746a;  // "Attj"
constexpr std::int64_t kVersion = 2;               // 1: jobs had no owners
constexpr std::int64_t kWorthShrinkingBytes = 16 << 20;
constexpr int kBusyTimeoutMs = 60000;
constexpr std::int64_t kMostUnits = 1'000'000;       // of a pool
constexpr std::int64_t kLargestLogBytes = 16 << 20;  // of the write-ahead log, once it was copied

constexpr const char* kSchema = R"(
CREATE TABLE jobs (
  number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, name TEXT NOT NULL, state INTEGER NOT NULL,
  key TEXT NOT NULL, wish INTEGER NOT NULL, is_foreign INTEGER NOT NULL, job BLOB NOT NULL,
  uid INTEGER NOT NULL);
CREATE UNIQUE INDEX jobs_key ON jobs(uid, key) WHERE key <> '';
CREATE TABLE stages (
  job TEXT NOT NULL, epoch INTEGER NOT NULL, stage INTEGER NOT NULL, kind TEXT NOT NULL,
  pool TEXT NOT NULL, slots TEXT NOT NULL, ready_at REAL NOT NULL, started_at REAL NOT NULL,
  ended_at REAL NOT NULL, how INTEGER NOT NULL, PRIMARY KEY (job, epoch, stage)) WITHOUT ROWID;
CREATE INDEX stages_end ON stages(ended_at);
CREATE TABLE pools (number INTEGER PRIMARY KEY, name TEXT NOT NULL, capacity INTEGER NOT NULL);
)";
// Rows of jobs that were damaged (state/damaged_rows.h). Earlier programs pass it by.
constexpr const char* kSetAside = R"(
CREATE TABLE IF NOT EXISTS set_aside (
  number INTEGER PRIMARY KEY, id TEXT, name TEXT, state INTEGER, key TEXT, wish INTEGER,
  is_foreign INTEGER, job BLOB, uid INTEGER, why TEXT);
)";

Error unusable(std::string why) {
  return {ErrorCode::Corrupt, std::move(why),
          fmt::format("move it away, or {}; it was not changed", kOther)};
}

// For its user alone; what SQLite makes beside it gets the same rights. Closed before SQLite opens
// it: whoever closes a file gives up all locks of the process on it.
void make_private_file(const std::string& path) {
  const wire::Descriptor made(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
}

Error damaged(const std::string& path, const std::string& detail) {
  return unusable(fmt::format("state file '{}' is damaged: {}", path, detail));
}

}  // namespace

Status StateFile::check_version() const {
  ATTUNE_ASSIGN(const std::int64_t application, database_->integer("PRAGMA application_id"));
  ATTUNE_ASSIGN(const std::int64_t version, database_->integer("PRAGMA user_version"));
  if (application != kApplication) {
    return unusable(fmt::format("'{}' is no state file of a scheduler", database_->name()));
  }
  if (version >= 1 && version <= kVersion) return {};
  return Error{ErrorCode::Corrupt,
               fmt::format("state file '{}' has version {}, this attune knows up to {}",
                           database_->name(), version, kVersion),
               fmt::format("update attune, or {}; it was not changed", kOther)};
}

// Jobs of the program before there were owners are the scheduler's user's.
Status StateFile::migrate() {
  ATTUNE_ASSIGN(const std::int64_t version, database_->integer("PRAGMA user_version"));
  if (version == kVersion) return {};
  ATTUNE_ASSIGN(sqlite::Transaction transaction, sqlite::Transaction::begin(*database_));
  ATTUNE_RETURN_IF_ERROR(database_->execute(
      fmt::format("ALTER TABLE jobs ADD COLUMN uid INTEGER NOT NULL DEFAULT {}; "
                  "DROP INDEX jobs_key; "
                  "CREATE UNIQUE INDEX jobs_key ON jobs(uid, key) WHERE key <> ''; "
                  "PRAGMA user_version={}",
                  ::geteuid(), kVersion)));
  return transaction.commit();
}

// A file that is refused is not changed: everything is looked at before anything is written, and a
// log that another program left stays beside it.
Status StateFile::prepare_to_write() {
  database_->set_checkpoint_on_close(false);
  ATTUNE_ASSIGN(const std::int64_t tables,
                database_->integer("SELECT count(*) FROM sqlite_master"));
  if (tables != 0) ATTUNE_RETURN_IF_ERROR(check_version());
  ATTUNE_ASSIGN(const std::string verdict, database_->text("PRAGMA quick_check(1)"));
  if (verdict != "ok") return damaged(database_->name(), verdict.substr(0, verdict.find('\n')));
  ATTUNE_RETURN_IF_ERROR(sqlite::make_durable(*database_, kBusyTimeoutMs));
  ATTUNE_RETURN_IF_ERROR(
      database_->execute(fmt::format("PRAGMA journal_size_limit={}", kLargestLogBytes)));
  database_->set_checkpoint_on_close(true);
  if (tables != 0) {
    ATTUNE_RETURN_IF_ERROR(migrate());
    ATTUNE_RETURN_IF_ERROR(database_->execute(kSetAside));
    ATTUNE_RETURN_IF_ERROR(shrink(kWorthShrinkingBytes));
    return prepare_statements();
  }
  ATTUNE_ASSIGN(sqlite::Transaction transaction, sqlite::Transaction::begin(*database_));
  ATTUNE_RETURN_IF_ERROR(database_->execute(kSchema));
  ATTUNE_RETURN_IF_ERROR(database_->execute(kSetAside));
  ATTUNE_RETURN_IF_ERROR(database_->execute(
      fmt::format("PRAGMA application_id={}; PRAGMA user_version={}", kApplication, kVersion)));
  ATTUNE_RETURN_IF_ERROR(transaction.commit());
  return prepare_statements();
}

// A file most of which is unused gives its room back to the disk.
Status StateFile::shrink(std::int64_t worth_bytes) {
  ATTUNE_ASSIGN(const std::int64_t bytes, database_->integer("PRAGMA page_size"));
  ATTUNE_ASSIGN(const std::int64_t all, database_->integer("PRAGMA page_count"));
  ATTUNE_ASSIGN(const std::int64_t unused, database_->integer("PRAGMA freelist_count"));
  if (unused * bytes < worth_bytes || unused * 2 < all) return {};
  return database_->execute("VACUUM");
}

// What a job is called never changes; leaving it alone spares the indexes. Of a stage that is said
// to have run twice, by a tuner that numbers anew, the first stays.
Status StateFile::prepare_statements() {
  ATTUNE_ASSIGN(put_job_, database_->prepare("INSERT INTO jobs VALUES (?,?,?,?,?,?,?,?,?) "
                                             "ON CONFLICT(number) DO UPDATE SET "
                                             "state=excluded.state, wish=excluded.wish, "
                                             "is_foreign=excluded.is_foreign, job=excluded.job"));
  ATTUNE_ASSIGN(put_stage_, database_->prepare("INSERT INTO stages VALUES (?,?,?,?,?,?,?,?,?,?) "
                                               "ON CONFLICT(job, epoch, stage) DO NOTHING"));
  ATTUNE_ASSIGN(remove_job_, database_->prepare("DELETE FROM jobs WHERE number = ?"));
  ATTUNE_ASSIGN(remove_aside_, database_->prepare("DELETE FROM set_aside WHERE number = ?"));
  ATTUNE_ASSIGN(remove_stages_of_, database_->prepare("DELETE FROM stages WHERE job = ?"));
  return {};
}

Result<StateFile> StateFile::open(const std::string& path) {
  using Access = sqlite::Database::Access;
  if (const auto network = network_file_system(path)) {
    return Error{
        ErrorCode::Unsupported,
        fmt::format("state file '{}' would lie on a network file system ({})", path, *network),
        "name a folder on a disk of this machine with --state DIR"};
  }
  make_private_file(path);
  Result<sqlite::Database> database = sqlite::Database::open_file(path, Access::Write, kWords);
  if (!database.ok()) {
    Error error = database.error();
    error.message = fmt::format("cannot open state file '{}'", path);
    error.hint = kOther;
    return error;
  }
  StateFile file(std::move(*database));
  file.database_->set_busy_timeout_ms(kBusyTimeoutMs);
  ATTUNE_RETURN_IF_ERROR(file.prepare_to_write());
  return file;
}

Result<StateFile> StateFile::open_to_read(const std::string& path) {
  if (!std::filesystem::exists(path)) {
    return Error{ErrorCode::NotFound, fmt::format("there is no state file '{}'", path),
                 "no scheduler ran with this --state DIR"};
  }
  ATTUNE_ASSIGN(sqlite::Database database,
                sqlite::Database::open_file(path, sqlite::Database::Access::Read, kWords));
  StateFile file(std::move(database));
  file.database_->set_busy_timeout_ms(kBusyTimeoutMs);
  ATTUNE_RETURN_IF_ERROR(file.check_version());
  return file;
}

Result<std::vector<jobs::JobRow>> StateFile::read_jobs(Reports reports) const {
  std::vector<jobs::JobRow> rows;
  ATTUNE_ASSIGN(const std::int64_t version, database_->integer("PRAGMA user_version"));
  ATTUNE_ASSIGN(
      sqlite::Statement statement,
      database_->prepare(fmt::format("SELECT {} FROM jobs ORDER BY number", job_columns(version))));
  while (true) {
    ATTUNE_ASSIGN(const bool row, statement.step());
    if (!row) break;
    jobs::JobRow& job = rows.emplace_back();
    if (const Status good = read_job(statement, job); !good.ok()) {
      return damaged(database_->name(), good.error().message);
    }
    if (reports == Reports::Leave && job.job.state() >= v1::DONE) {
      job.report_on_disk = true;
      job.report_bytes = job.job.result_json().size();
      job.job.clear_result_json();
    }
  }
  if (const Status good = jobs::check_rows(rows); !good.ok()) {
    return damaged(database_->name(), good.error().message);
  }
  return rows;
}

Result<std::vector<jobs::StageRow>> StateFile::read_stages(std::int64_t most) const {
  std::vector<jobs::StageRow> rows;
  ATTUNE_ASSIGN(sqlite::Statement statement,
                database_->prepare(fmt::format("SELECT * FROM (SELECT {} FROM stages ORDER BY "
                                               "ended_at DESC LIMIT ?) ORDER BY ended_at",
                                               kStageColumns)));
  statement.bind(most);
  while (true) {
    ATTUNE_ASSIGN(const bool row, statement.step());
    if (!row) return rows;
    if (const Status good = read_stage(statement, rows.emplace_back()); !good.ok()) {
      return damaged(database_->name(), good.error().message);
    }
  }
}

Result<std::vector<std::string>> StateFile::set_damaged_aside(double now) {
  return server::set_damaged_aside(*database_, now);
}

Result<std::vector<jobs::Pool>> StateFile::read_pools() const {
  std::vector<jobs::Pool> pools;
  ATTUNE_ASSIGN(sqlite::Statement statement,
                database_->prepare("SELECT name, capacity FROM pools ORDER BY number"));
  while (true) {
    ATTUNE_ASSIGN(const bool row, statement.step());
    if (!row) return pools;
    const std::int64_t capacity = statement.integer(1);
    if (capacity < 0 || capacity > kMostUnits) {
      return damaged(database_->name(), fmt::format("pool '{}' has {} units",
                                                    statement.text(0).substr(0, 40), capacity));
    }
    pools.push_back({statement.text(0), static_cast<int>(capacity)});
  }
}

Status StateFile::put(const jobs::JobRow& row) {
  const std::string bytes = row.job.SerializeAsString();
  const std::int64_t wish = row.wish ? std::int64_t{*row.wish} : -1;
  return put_job_
      ->bind(row.number, row.job.id(), row.job.spec().name(), std::int64_t{row.job.state()},
             row.key, wish, row.foreign, sqlite::Blob{bytes}, std::int64_t{row.job.uid()})
      .run();
}

Status StateFile::put(const jobs::StageRow& row) {
  const v1::Bar& bar = row.bar;
  return put_stage_
      ->bind(bar.job(), row.epoch, row.stage, bar.kind(), bar.pool(),
             fmt::format("{}", fmt::join(bar.slots(), ",")), bar.ready_at(), bar.started_at(),
             bar.ended_at(), std::int64_t{row.end})
      .run();
}

// Jobs that are forgotten go first, as new ones may have their keys; their stages last, as some of
// these may have come with the same changes.
Status StateFile::write(const Changes& changes) {
  ATTUNE_ASSIGN(sqlite::Transaction transaction, sqlite::Transaction::begin(*database_));
  for (const jobs::ForgottenJob& job : changes.forgotten) {
    ATTUNE_RETURN_IF_ERROR(remove_job_->bind(job.number).run());
    ATTUNE_RETURN_IF_ERROR(remove_aside_->bind(job.number).run());
  }
  for (const jobs::JobRow& row : changes.jobs) ATTUNE_RETURN_IF_ERROR(put(row));
  for (const jobs::StageRow& row : changes.stages) ATTUNE_RETURN_IF_ERROR(put(row));
  for (const jobs::ForgottenJob& job : changes.forgotten) {
    ATTUNE_RETURN_IF_ERROR(remove_stages_of_->bind(job.id).run());
  }
  return transaction.commit();
}

Result<std::int64_t> StateFile::remove_stages(double before, std::int64_t most,
                                              std::int64_t at_once) {
  ATTUNE_ASSIGN(sqlite::Transaction transaction, sqlite::Transaction::begin(*database_));
  ATTUNE_ASSIGN(sqlite::Statement statement,
                database_->prepare(
                    "DELETE FROM stages WHERE (job, epoch, stage) IN (SELECT job, epoch, stage "
                    "FROM stages WHERE ended_at < max(?, coalesce((SELECT ended_at FROM stages "
                    "ORDER BY ended_at DESC LIMIT 1 OFFSET ?), 0)) ORDER BY ended_at LIMIT ?)"));
  ATTUNE_RETURN_IF_ERROR(statement.bind(before, most - 1, at_once).run());
  const std::int64_t removed = database_->changed_rows();
  ATTUNE_RETURN_IF_ERROR(transaction.commit());
  return removed;
}

Result<std::string> StateFile::read_report(const std::string& id) const {
  ATTUNE_ASSIGN(sqlite::Statement statement,
                database_->prepare("SELECT job FROM jobs WHERE id = ?"));
  statement.bind(id);
  ATTUNE_ASSIGN(const bool row, statement.step());
  v1::Job job;
  if (!row || !job.ParseFromString(statement.text(0))) return std::string();
  return std::move(*job.mutable_result_json());
}

Status StateFile::write_pools(const std::vector<jobs::Pool>& pools) {
  ATTUNE_ASSIGN(sqlite::Transaction transaction, sqlite::Transaction::begin(*database_));
  ATTUNE_RETURN_IF_ERROR(database_->execute("DELETE FROM pools"));
  ATTUNE_ASSIGN(sqlite::Statement statement,
                database_->prepare("INSERT INTO pools VALUES (?,?,?)"));
  for (std::size_t i = 0; i < pools.size(); ++i) {
    ATTUNE_RETURN_IF_ERROR(
        statement.bind(std::int64_t(i), pools[i].name, std::int64_t{pools[i].capacity}).run());
  }
  return transaction.commit();
}

}  // namespace attune::server
