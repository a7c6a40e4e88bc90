#include "tuner/records/sqlite_store.h"

namespace attune::records {

Result<std::size_t> SqliteStore::add_hints(std::span<const Hint> hints) {
  const std::lock_guard lock(mutex_);
  ATTUNE_ASSIGN(sqlite::Transaction transaction, sqlite::Transaction::begin(database_));
  ATTUNE_ASSIGN(sqlite::Statement find,
                database_.prepare("SELECT id, time_us FROM hints WHERE task_key = ? AND"
                                  " trace_hash = ? AND foreign_target = ?"));
  ATTUNE_ASSIGN(sqlite::Statement insert,
                database_.prepare("INSERT INTO hints(task_key, trace_hash, foreign_target,"
                                  " task_name, trace, time_us, source, created_at_ms, anchor_key,"
                                  " config) VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"));
  ATTUNE_ASSIGN(sqlite::Statement improve,
                database_.prepare("UPDATE hints SET time_us = ?, source = ? WHERE id = ?"));
  std::size_t added = 0;
  for (const Hint& hint : hints) {
    ATTUNE_ASSIGN(const bool known,
                  find.bind(hint.task_key, hint.trace_hash, hint.foreign_target).step());
    if (!known) {
      insert.bind(hint.task_key, hint.trace_hash, hint.foreign_target, hint.task_name, hint.trace,
                  hint.time_us, hint.source, hint.created_at_ms, hint.anchor_key, hint.config);
      ATTUNE_RETURN_IF_ERROR(insert.run());
      ++added;
    } else if (hint.time_us < find.real(1)) {
      ATTUNE_RETURN_IF_ERROR(improve.bind(hint.time_us, hint.source, find.integer(0)).run());
    }
  }
  ATTUNE_RETURN_IF_ERROR(transaction.commit());
  return added;
}

Result<std::vector<Hint>> SqliteStore::hints(const HintFilter& filter) {
  const std::lock_guard lock(mutex_);
  std::string sql =
      "SELECT task_key, task_name, trace, trace_hash, time_us, foreign_target, source,"
      " created_at_ms, anchor_key, config FROM (SELECT *, row_number() OVER"
      " (PARTITION BY task_key, foreign_target ORDER BY time_us, id) AS place,"
      " row_number() OVER (PARTITION BY task_key, trace_hash ORDER BY time_us, id) AS copy"
      " FROM hints WHERE 1";
  if (!filter.task.empty()) sql += " AND (task_key = ?1 OR task_name = ?1)";
  if (!filter.anchor.empty()) sql += " AND anchor_key = ?2";
  sql += ") WHERE copy = 1 ORDER BY task_name, place, time_us, foreign_target LIMIT ?3";
  ATTUNE_ASSIGN(sqlite::Statement rows, database_.prepare(sql));
  rows.bind(filter.task, filter.anchor,
            filter.limit ? static_cast<std::int64_t>(*filter.limit) : std::int64_t{-1});
  std::vector<Hint> found;
  while (true) {
    ATTUNE_ASSIGN(const bool row, rows.step());
    if (!row) return found;
    found.push_back({.task_key = rows.text(0),
                     .task_name = rows.text(1),
                     .trace = rows.text(2),
                     .trace_hash = rows.unsigned_integer(3),
                     .time_us = rows.real(4),
                     .foreign_target = rows.text(5),
                     .source = rows.text(6),
                     .created_at_ms = rows.integer(7),
                     .anchor_key = rows.text(8),
                     .config = rows.text(9)});
  }
}

}  // namespace attune::records
