#include "tuner/records/sqlite_schema.h"

#include <fmt/core.h>

namespace attune::records {
namespace {

// Tasks and targets are long texts shared by thousands of records, so that records and their
// indices carry a number instead. time_us is set for timings alone and is what best and top walk
// along; outcome_detail holds the whole outcome in JSON.
constexpr const char* kRecords = R"sql(
CREATE TABLE task_targets(
  id INTEGER PRIMARY KEY,
  task_key TEXT NOT NULL,
  target TEXT NOT NULL,
  UNIQUE(task_key, target));

CREATE TABLE records(
  id INTEGER PRIMARY KEY,
  task_target_id INTEGER NOT NULL REFERENCES task_targets(id),
  task_name TEXT NOT NULL,
  trace TEXT NOT NULL,
  trace_hash INTEGER NOT NULL,
  outcome TEXT NOT NULL,
  outcome_detail TEXT NOT NULL,
  time_us REAL,
  weights TEXT NOT NULL,
  build_ms REAL,
  run_ms REAL,
  wait_ms REAL,
  product_version TEXT NOT NULL,
  device TEXT NOT NULL,
  cv REAL,
  sentinel_drift REAL,
  seed INTEGER NOT NULL,
  session_id INTEGER NOT NULL,
  number INTEGER NOT NULL,
  verified INTEGER NOT NULL,
  created_at_ms INTEGER NOT NULL,
  fingerprint INTEGER NOT NULL);

CREATE INDEX records_by_time ON records(task_target_id, weights, time_us, verified)
  WHERE time_us IS NOT NULL;
CREATE INDEX records_by_trace ON records(task_target_id, trace_hash, outcome);
CREATE INDEX records_by_name ON records(task_name);
CREATE INDEX records_by_session ON records(session_id);
CREATE INDEX records_by_fingerprint ON records(fingerprint);
)sql";

constexpr const char* kSessions = R"sql(
CREATE TABLE sessions(
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  task_key TEXT NOT NULL,
  task_name TEXT NOT NULL,
  target TEXT NOT NULL,
  options TEXT NOT NULL,
  options_key TEXT NOT NULL,
  seed INTEGER NOT NULL,
  created_at_ms INTEGER NOT NULL,
  finished INTEGER NOT NULL,
  state BLOB NOT NULL);
CREATE INDEX sessions_by_key ON sessions(task_key, target, options_key);

CREATE TABLE session_rounds(
  session_id INTEGER NOT NULL REFERENCES sessions(id) ON DELETE CASCADE,
  round INTEGER NOT NULL,
  finished INTEGER NOT NULL,
  PRIMARY KEY(session_id, round)) WITHOUT ROWID;

CREATE TABLE session_candidates(
  session_id INTEGER NOT NULL REFERENCES sessions(id) ON DELETE CASCADE,
  number INTEGER NOT NULL,
  round INTEGER NOT NULL,
  trace TEXT NOT NULL,
  trace_hash INTEGER NOT NULL,
  predicted_us REAL,
  status TEXT NOT NULL,
  record_id INTEGER,
  PRIMARY KEY(session_id, number));
)sql";

// What tasks compute; see task_definition.h.
constexpr const char* kTasks = R"sql(
CREATE TABLE tasks(
  key TEXT PRIMARY KEY,
  name TEXT NOT NULL,
  flops REAL NOT NULL) WITHOUT ROWID;

CREATE TABLE task_programs(
  task_key TEXT NOT NULL,
  algorithm TEXT NOT NULL,
  text TEXT NOT NULL,
  tolerance REAL NOT NULL,
  PRIMARY KEY(task_key, algorithm));
)sql";

// Schedules from elsewhere; see hint.h. The same schedule from the same place is one hint.
constexpr const char* kHints = R"sql(
CREATE TABLE hints(
  id INTEGER PRIMARY KEY,
  task_key TEXT NOT NULL,
  trace_hash INTEGER NOT NULL,
  foreign_target TEXT NOT NULL,
  task_name TEXT NOT NULL,
  trace TEXT NOT NULL,
  time_us REAL NOT NULL,
  source TEXT NOT NULL,
  created_at_ms INTEGER NOT NULL,
  UNIQUE(task_key, trace_hash, foreign_target));
CREATE INDEX hints_by_name ON hints(task_name);
)sql";

constexpr const char* kHintAnchors = R"sql(
ALTER TABLE hints ADD COLUMN anchor_key TEXT NOT NULL DEFAULT '';
ALTER TABLE hints ADD COLUMN config TEXT NOT NULL DEFAULT '';
CREATE INDEX hints_by_anchor ON hints(anchor_key);
)sql";

// What a session must know to be repeated: how many candidates were asked for, and what the first
// look at each gave. A second look replaces the time in its record, but not what the search was
// told.
constexpr const char* kFirstLooks = R"sql(
ALTER TABLE session_candidates ADD COLUMN first_us REAL;
ALTER TABLE session_rounds ADD COLUMN asked INTEGER NOT NULL DEFAULT 0;
)sql";

// The state of a session's search as what each stage changed, so that a stage writes no more than
// that. What earlier versions kept in one piece becomes the first change.
constexpr const char* kSearchChanges = R"sql(
CREATE TABLE session_changes(
  id INTEGER PRIMARY KEY,
  session_id INTEGER NOT NULL REFERENCES sessions(id) ON DELETE CASCADE,
  changes BLOB NOT NULL);
CREATE INDEX session_changes_by_session ON session_changes(session_id);
INSERT INTO session_changes(session_id, changes)
  SELECT id, state FROM sessions WHERE length(state) > 0;
UPDATE sessions SET state = x'';
)sql";

constexpr const char* kMigrations[] = {kRecords,     kSessions,   kTasks,        kHints,
                                       kHintAnchors, kFirstLooks, kSearchChanges};

}  // namespace

std::span<const char* const> migrations() { return kMigrations; }

Result<std::int64_t> check_version(const sqlite::Database& database, std::int64_t known) {
  ATTUNE_ASSIGN(const std::int64_t tables, database.integer("SELECT count(*) FROM sqlite_schema"));
  if (tables == 0) return 0;
  ATTUNE_ASSIGN(const std::int64_t application, database.integer("PRAGMA application_id"));
  if (application != kApplicationId) {
    return Error{
        ErrorCode::Corrupt,
        fmt::format("'{}' is a database of another program, not a records file", database.name()),
        "name another file with --records PATH; it was not changed"};
  }
  ATTUNE_ASSIGN(const std::int64_t version, database.integer("PRAGMA user_version"));
  if (version < 0 || version > known) {
    return Error{ErrorCode::Corrupt,
                 fmt::format("records file '{}' has schema version {}, this attune knows up to {}",
                             database.name(), version, known),
                 "update attune, or name another file with --records PATH; it was not changed"};
  }
  return version;
}

Status migrate(sqlite::Database& database, std::span<const char* const> steps) {
  const auto known = static_cast<std::int64_t>(steps.size());
  ATTUNE_ASSIGN(const std::int64_t seen, check_version(database, known));
  if (seen == known) return {};
  ATTUNE_ASSIGN(sqlite::Transaction transaction, sqlite::Transaction::begin(database));
  // Another process may have done it in the meantime.
  ATTUNE_ASSIGN(const std::int64_t version, check_version(database, known));
  for (std::int64_t i = version; i < known; ++i) {
    ATTUNE_RETURN_IF_ERROR(database.execute(steps[static_cast<std::size_t>(i)]));
  }
  ATTUNE_RETURN_IF_ERROR(database.execute(
      fmt::format("PRAGMA application_id = {}; PRAGMA user_version = {}", kApplicationId, known)));
  return transaction.commit();
}

}  // namespace attune::records
