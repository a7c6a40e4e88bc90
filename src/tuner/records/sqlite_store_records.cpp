#include <fmt/core.h>

#include <algorithm>
#include <unordered_set>

#include "tuner/records/record_json.h"
#include "tuner/records/sqlite_open.h"
#include "tuner/records/sqlite_rows.h"
#include "tuner/records/sqlite_store.h"

namespace attune::records {
namespace {

// SQLite counts rows in signed numbers; a limit beyond them is none.
std::int64_t row_limit(const std::optional<std::size_t>& limit) {
  constexpr std::size_t kMost = 1u << 30;
  return limit && *limit < kMost ? static_cast<std::int64_t>(*limit) : -1;
}

}  // namespace

Result<std::unique_ptr<Store>> open_sqlite_store(const std::string& path) {
  ATTUNE_ASSIGN(sqlite::Database database, open_for_writing(path));
  return std::unique_ptr<Store>(std::make_unique<SqliteStore>(std::move(database)));
}

Result<std::unique_ptr<Store>> open_sqlite_store_for_reading(const std::string& path) {
  ATTUNE_ASSIGN(sqlite::Database database, open_for_reading(path));
  return std::unique_ptr<Store>(std::make_unique<SqliteStore>(std::move(database)));
}

Result<std::vector<RecordId>> SqliteStore::add(std::span<const Record> records) {
  const std::lock_guard lock(mutex_);
  ATTUNE_ASSIGN(sqlite::Transaction transaction, sqlite::Transaction::begin(database_));
  ATTUNE_ASSIGN(RecordInserter inserter, RecordInserter::create(database_));
  std::vector<RecordId> ids;
  ids.reserve(records.size());
  for (const Record& record : records) {
    ATTUNE_ASSIGN(const RecordId id, inserter.insert(record));
    ids.push_back(id);
  }
  ATTUNE_RETURN_IF_ERROR(transaction.commit());
  return ids;
}

Result<std::size_t> SqliteStore::add_new(std::span<const Record> records) {
  const std::lock_guard lock(mutex_);
  ATTUNE_ASSIGN(sqlite::Transaction transaction, sqlite::Transaction::begin(database_));
  ATTUNE_ASSIGN(RecordInserter inserter, RecordInserter::create(database_));
  ATTUNE_ASSIGN(sqlite::Statement known,
                database_.prepare("SELECT 1 FROM records WHERE fingerprint = ? LIMIT 1"));
  std::size_t added = 0;
  for (const Record& record : records) {
    ATTUNE_ASSIGN(const bool present, known.bind(fingerprint(record)).step());
    if (present) continue;
    ATTUNE_ASSIGN(const RecordId id, inserter.insert(record));
    (void)id;
    ++added;
  }
  ATTUNE_RETURN_IF_ERROR(transaction.commit());
  return added;
}

Result<std::vector<bool>> SqliteStore::are_known(std::span<const Record> records) {
  const std::lock_guard lock(mutex_);
  ATTUNE_ASSIGN(sqlite::Statement known,
                database_.prepare("SELECT 1 FROM records WHERE fingerprint = ? LIMIT 1"));
  std::vector<bool> found;
  for (const Record& record : records) {
    ATTUNE_ASSIGN(const bool present, known.bind(fingerprint(record)).step());
    found.push_back(present);
  }
  return found;
}

Status SqliteStore::confirm(std::span<const Confirmation> confirmations) {
  const std::lock_guard lock(mutex_);
  ATTUNE_ASSIGN(sqlite::Transaction transaction, sqlite::Transaction::begin(database_));
  ATTUNE_ASSIGN(sqlite::Statement find,
                database_.prepare(std::string(kSelectRecord) + "WHERE r.id = ?"));
  ATTUNE_ASSIGN(sqlite::Statement update,
                database_.prepare("UPDATE records SET outcome = ?, outcome_detail = ?, time_us = ?,"
                                  " cv = ?, sentinel_drift = ?, verified = ?, fingerprint = ?"
                                  " WHERE id = ?"));
  for (const Confirmation& c : confirmations) {
    ATTUNE_ASSIGN(const bool found, find.bind(c.id).step());
    if (!found) {
      return Error{ErrorCode::NotFound,
                   fmt::format("record {} is not in records file '{}'", c.id, database_.name()),
                   {}};
    }
    ATTUNE_ASSIGN(Record record, read_record(find));
    record.outcome = c.outcome;
    record.noise = c.noise;
    record.verified = c.verified;
    update.bind(outcome::kind_of(c.outcome), outcome_to_json(c.outcome),
                competing_time_us(c.outcome), c.noise.cv, c.noise.sentinel_drift, c.verified,
                fingerprint(record), c.id);
    ATTUNE_RETURN_IF_ERROR(update.run());
  }
  return transaction.commit();
}

Result<std::optional<Record>> SqliteStore::best(const BestQuery& query) {
  ATTUNE_ASSIGN(std::vector<Record> first, top(query, 1));
  if (first.empty()) return std::optional<Record>();
  return std::optional<Record>(std::move(first.front()));
}

Result<std::vector<Record>> SqliteStore::top(const BestQuery& query, std::size_t k) {
  const std::lock_guard lock(mutex_);
  ATTUNE_ASSIGN(
      sqlite::Statement rows,
      database_.prepare(
          std::string(kSelectRecord) +
          "WHERE r.task_target_id ="
          " (SELECT id FROM task_targets WHERE task_key = ? AND target = ?)"
          " AND r.weights = ? AND r.time_us IS NOT NULL AND r.verified >= ? ORDER BY r.time_us"));
  rows.bind(query.task_key, query.target, weights_text(query.weights), query.verified_only);
  std::vector<Record> fastest;
  std::unordered_set<std::uint64_t> seen;
  while (fastest.size() < k) {
    ATTUNE_ASSIGN(const bool row, rows.step());
    if (!row) break;
    if (!seen.insert(rows.unsigned_integer(5)).second) continue;
    ATTUNE_ASSIGN(Record record, read_record(rows));
    fastest.push_back(std::move(record));
  }
  return fastest;
}

Result<std::vector<Record>> SqliteStore::list(const RecordFilter& filter) {
  std::vector<Record> records;
  ATTUNE_RETURN_IF_ERROR(visit(filter, [&](const Record& record) {
    records.push_back(record);
    return Status{};
  }));
  return records;
}

Status SqliteStore::visit(const RecordFilter& filter,
                          const std::function<Status(const Record&)>& take) {
  const std::lock_guard lock(mutex_);
  std::string sql = std::string(kSelectRecord) + "WHERE 1";
  if (!filter.task.empty()) {
    sql +=
        " AND r.id IN (SELECT id FROM records WHERE task_target_id IN"
        " (SELECT id FROM task_targets WHERE task_key = ?1)"
        " UNION SELECT id FROM records WHERE task_name = ?1)";
  }
  if (!filter.target.empty()) sql += " AND t.target = ?2";
  if (filter.session) sql += " AND r.session_id = ?3";
  sql += " ORDER BY r.id DESC LIMIT ?4";
  ATTUNE_ASSIGN(sqlite::Statement rows, database_.prepare(sql));
  rows.bind(filter.task, filter.target, filter.session.value_or(0), row_limit(filter.limit));
  while (true) {
    ATTUNE_ASSIGN(const bool row, rows.step());
    if (!row) return {};
    ATTUNE_ASSIGN(const Record record, read_record(rows));
    ATTUNE_RETURN_IF_ERROR(take(record));
  }
}

Result<TrialCount> SqliteStore::count_trials(const std::string& task_key, const std::string& target,
                                             std::optional<SessionId> session) {
  const std::lock_guard lock(mutex_);
  // A candidate that was tried several times counts once, by the furthest that it came.
  std::string sql =
      "SELECT furthest, count(*) FROM (SELECT max(CASE outcome WHEN 'infrastructure_lost' THEN 0"
      " WHEN 'build_failed' THEN 1 ELSE 2 END) AS furthest FROM records WHERE task_target_id ="
      " (SELECT id FROM task_targets WHERE task_key = ?1 AND target = ?2)";
  if (session) sql += " AND session_id = ?3";
  sql += " GROUP BY trace_hash) GROUP BY furthest";
  ATTUNE_ASSIGN(sqlite::Statement rows, database_.prepare(sql));
  if (session) {
    rows.bind(task_key, target, *session);
  } else {
    rows.bind(task_key, target);
  }
  TrialCount count;
  while (true) {
    ATTUNE_ASSIGN(const bool row, rows.step());
    if (!row) return count;
    const auto number = static_cast<std::size_t>(rows.integer(1));
    (rows.integer(0) == 0   ? count.lost
     : rows.integer(0) == 1 ? count.build_failed
                            : count.trials) = number;
  }
}

Result<std::vector<std::uint64_t>> SqliteStore::known_traces(const std::string& task_key,
                                                             const std::string& target) {
  const std::lock_guard lock(mutex_);
  ATTUNE_ASSIGN(sqlite::Statement rows,
                database_.prepare("SELECT DISTINCT trace_hash FROM records WHERE task_target_id ="
                                  " (SELECT id FROM task_targets WHERE task_key = ? AND target = ?)"
                                  " AND outcome != 'infrastructure_lost'"));
  rows.bind(task_key, target);
  std::vector<std::uint64_t> hashes;
  while (true) {
    ATTUNE_ASSIGN(const bool row, rows.step());
    if (!row) break;
    hashes.push_back(rows.unsigned_integer(0));
  }
  std::sort(hashes.begin(), hashes.end());
  return hashes;
}

Result<std::size_t> SqliteStore::prune(std::size_t keep) {
  const std::lock_guard lock(mutex_);
  ATTUNE_ASSIGN(sqlite::Transaction transaction, sqlite::Transaction::begin(database_));
  // Of several sessions with the same keys only the newest can be resumed (see
  // find_resumable_session); if it is unfinished it stays as it is.
  ATTUNE_RETURN_IF_ERROR(
      database_.execute("DELETE FROM sessions WHERE id NOT IN (SELECT id FROM (SELECT max(id) AS"
                        " id, finished FROM sessions GROUP BY task_key, target, options_key)"
                        " WHERE NOT finished)"));
  ATTUNE_ASSIGN(
      sqlite::Statement remove,
      database_.prepare(
          "DELETE FROM records WHERE session_id NOT IN (SELECT id FROM sessions) AND id NOT IN"
          " (SELECT id FROM (SELECT id, row_number() OVER"
          "    (PARTITION BY task_target_id, weights ORDER BY time_us, id) AS place FROM"
          "   (SELECT id, task_target_id, weights, time_us, row_number() OVER"
          "      (PARTITION BY task_target_id, weights, trace_hash ORDER BY time_us, id) AS copy"
          "    FROM records WHERE time_us IS NOT NULL AND verified)"
          "   WHERE copy = 1) WHERE place <= ?)"));
  const std::int64_t limit = row_limit(keep);
  ATTUNE_RETURN_IF_ERROR(remove.bind(limit < 0 ? INT64_MAX : limit).run());
  const auto removed = static_cast<std::size_t>(database_.changed_rows());
  ATTUNE_RETURN_IF_ERROR(transaction.commit());
  // Gives the space back. The records are consistent without it, so that a disk too full for the
  // copy that VACUUM makes is no error.
  if (removed > 0) (void)database_.execute("VACUUM");
  return removed;
}

}  // namespace attune::records
