#include <fmt/core.h>

#include "tuner/records/sqlite_rows.h"
#include "tuner/records/sqlite_store.h"

namespace attune::records {
namespace {

constexpr const char* kSelected = "selected";
constexpr const char* kBuilt = "built";
constexpr const char* kProfiled = "profiled";

CandidateStatus parse_status(const std::string& text) {
  if (text == kProfiled) return CandidateStatus::Profiled;
  return text == kBuilt ? CandidateStatus::Built : CandidateStatus::Selected;
}

// Two processes must not continue the same session. The one that comes second finds the step that
// it wants to store already there.
Error continued_elsewhere(SessionId session, const std::string& what) {
  return {ErrorCode::Io,
          fmt::format("session {} was continued by another process: {}", session, what),
          "wait for that process to end, then use --resume"};
}

}  // namespace

Status SqliteStore::require_session(SessionId session) {
  ATTUNE_ASSIGN(sqlite::Statement find, database_.prepare("SELECT 1 FROM sessions WHERE id = ?"));
  ATTUNE_ASSIGN(const bool found, find.bind(session).step());
  if (found) return {};
  return Error{ErrorCode::NotFound,
               fmt::format("session {} is not in records file '{}'", session, database_.name()),
               "start without --resume"};
}

Status SqliteStore::add_changes(SessionId session, const std::string& changes) {
  ATTUNE_ASSIGN(sqlite::Statement insert,
                database_.prepare("INSERT INTO session_changes(session_id, changes) VALUES(?, ?)"));
  return insert.bind(session, sqlite::Blob{changes}).run();
}

Result<SessionId> SqliteStore::create_session(const SessionSpec& spec) {
  const std::lock_guard lock(mutex_);
  ATTUNE_ASSIGN(sqlite::Statement insert,
                database_.prepare("INSERT INTO sessions(task_key, task_name, target, options,"
                                  " options_key, seed, created_at_ms, finished, state)"
                                  " VALUES(?, ?, ?, ?, ?, ?, ?, 0, x'')"));
  insert.bind(spec.task_key, spec.task_name, spec.target, spec.options, spec.options_key, spec.seed,
              spec.created_at_ms);
  ATTUNE_RETURN_IF_ERROR(insert.run());
  return database_.last_inserted_id();
}

Result<std::optional<SessionId>> SqliteStore::find_resumable_session(
    const std::string& task_key, const std::string& target, const std::string& options_key,
    std::optional<std::uint64_t> seed) {
  const std::lock_guard lock(mutex_);
  ATTUNE_ASSIGN(sqlite::Statement find,
                database_.prepare("SELECT id FROM sessions WHERE task_key = ? AND target = ?"
                                  " AND options_key = ? AND (? OR seed = ?)"
                                  " ORDER BY id DESC LIMIT 1"));
  find.bind(task_key, target, options_key, !seed.has_value(), seed.value_or(0));
  ATTUNE_ASSIGN(const bool found, find.step());
  return found ? std::optional<SessionId>(find.integer(0)) : std::nullopt;
}

Result<SessionSpec> SqliteStore::session_spec(SessionId session) {
  const std::lock_guard lock(mutex_);
  ATTUNE_RETURN_IF_ERROR(require_session(session));
  return read_spec(session);
}

Result<SessionSpec> SqliteStore::read_spec(SessionId session) {
  ATTUNE_ASSIGN(sqlite::Statement row,
                database_.prepare("SELECT task_key, task_name, target, options, options_key, seed,"
                                  " created_at_ms FROM sessions WHERE id = ?"));
  ATTUNE_ASSIGN(const bool found, row.bind(session).step());
  CHECK(found, "a session vanished inside of a transaction");
  return SessionSpec{row.text(0),   row.text(1), row.text(2),
                     row.text(3),   row.text(4), row.unsigned_integer(5),
                     row.integer(6)};
}

Status SqliteStore::append_selected(SessionId session, std::int64_t round,
                                    std::span<const SessionCandidate> candidates,
                                    const std::string& changes, std::int64_t asked) {
  const std::lock_guard lock(mutex_);
  ATTUNE_ASSIGN(sqlite::Transaction transaction, sqlite::Transaction::begin(database_));
  ATTUNE_RETURN_IF_ERROR(require_session(session));
  ATTUNE_ASSIGN(
      sqlite::Statement open,
      database_.prepare("INSERT OR IGNORE INTO session_rounds(session_id, round, finished, asked)"
                        " VALUES(?, ?, 0, ?)"));
  ATTUNE_RETURN_IF_ERROR(open.bind(session, round, asked).run());
  if (database_.changed_rows() == 0) {
    return continued_elsewhere(session, fmt::format("round {} is there already", round));
  }
  ATTUNE_ASSIGN(sqlite::Statement insert,
                database_.prepare("INSERT OR IGNORE INTO session_candidates(session_id, number,"
                                  " round, trace, trace_hash, predicted_us, status)"
                                  " VALUES(?, ?, ?, ?, ?, ?, ?)"));
  for (const SessionCandidate& c : candidates) {
    insert.bind(session, c.number, round, c.trace, c.trace_hash, c.predicted_us,
                std::string_view(kSelected));
    ATTUNE_RETURN_IF_ERROR(insert.run());
    if (database_.changed_rows() == 0) {
      return continued_elsewhere(session, fmt::format("candidate {} is there already", c.number));
    }
  }
  ATTUNE_RETURN_IF_ERROR(add_changes(session, changes));
  ATTUNE_ASSIGN(sqlite::Statement update,
                database_.prepare("UPDATE sessions SET finished = 0 WHERE id = ?"));
  ATTUNE_RETURN_IF_ERROR(update.bind(session).run());
  return transaction.commit();
}

Status SqliteStore::mark_built(SessionId session, std::span<const std::int64_t> numbers) {
  const std::lock_guard lock(mutex_);
  ATTUNE_ASSIGN(sqlite::Transaction transaction, sqlite::Transaction::begin(database_));
  ATTUNE_RETURN_IF_ERROR(require_session(session));
  ATTUNE_ASSIGN(sqlite::Statement update,
                database_.prepare("UPDATE session_candidates SET status = ? WHERE session_id = ?"
                                  " AND number = ? AND status != ?"));
  for (const std::int64_t number : numbers) {
    update.bind(std::string_view(kBuilt), session, number, std::string_view(kProfiled));
    ATTUNE_RETURN_IF_ERROR(update.run());
    if (database_.changed_rows() == 0) {
      return continued_elsewhere(session, fmt::format("candidate {} awaits no build", number));
    }
  }
  return transaction.commit();
}

Result<std::vector<RecordId>> SqliteStore::mark_profiled(SessionId session,
                                                         std::span<const Record> records) {
  const std::lock_guard lock(mutex_);
  ATTUNE_ASSIGN(sqlite::Transaction transaction, sqlite::Transaction::begin(database_));
  ATTUNE_RETURN_IF_ERROR(require_session(session));
  ATTUNE_ASSIGN(RecordInserter inserter, RecordInserter::create(database_));
  ATTUNE_ASSIGN(sqlite::Statement update,
                database_.prepare("UPDATE session_candidates SET status = ?1, record_id = ?2,"
                                  " first_us = ?5"
                                  " WHERE session_id = ?3 AND number = ?4 AND status != ?1"));
  std::vector<RecordId> ids;
  ids.reserve(records.size());
  for (Record record : records) {
    record.session = session;
    ATTUNE_ASSIGN(const RecordId id, inserter.insert(record));
    const auto* timing = std::get_if<outcome::Timing>(&record.outcome);
    const std::optional<double> first_us =
        timing == nullptr ? std::nullopt : std::optional(timing->best_us);
    update.bind(std::string_view(kProfiled), id, session, record.number, first_us);
    ATTUNE_RETURN_IF_ERROR(update.run());
    if (database_.changed_rows() == 0) {
      return continued_elsewhere(session,
                                 fmt::format("candidate {} awaits no result", record.number));
    }
    ids.push_back(id);
  }
  ATTUNE_RETURN_IF_ERROR(transaction.commit());
  return ids;
}

Status SqliteStore::finish_round(SessionId session, std::int64_t round,
                                 const std::string& changes) {
  const std::lock_guard lock(mutex_);
  ATTUNE_ASSIGN(sqlite::Transaction transaction, sqlite::Transaction::begin(database_));
  ATTUNE_RETURN_IF_ERROR(require_session(session));
  ATTUNE_ASSIGN(sqlite::Statement waiting,
                database_.prepare("SELECT count(*) FROM session_candidates WHERE session_id = ?"
                                  " AND round = ? AND status != ?"));
  ATTUNE_ASSIGN(const bool row, waiting.bind(session, round, std::string_view(kProfiled)).step());
  if (row && waiting.integer(0) > 0) {
    return invalid(
        fmt::format("round {} of session {} cannot finish: {} of its candidates have no"
                    " result",
                    round, session, waiting.integer(0)));
  }
  ATTUNE_ASSIGN(sqlite::Statement finish,
                database_.prepare("UPDATE session_rounds SET finished = 1 WHERE session_id = ?"
                                  " AND round = ? AND NOT finished"));
  ATTUNE_RETURN_IF_ERROR(finish.bind(session, round).run());
  if (database_.changed_rows() == 0) {
    return continued_elsewhere(session, fmt::format("round {} is not open", round));
  }
  ATTUNE_RETURN_IF_ERROR(add_changes(session, changes));
  return transaction.commit();
}

Status SqliteStore::finish_session(SessionId session) {
  const std::lock_guard lock(mutex_);
  ATTUNE_ASSIGN(sqlite::Transaction transaction, sqlite::Transaction::begin(database_));
  ATTUNE_RETURN_IF_ERROR(require_session(session));
  ATTUNE_ASSIGN(sqlite::Statement update,
                database_.prepare("UPDATE sessions SET finished = 1 WHERE id = ?"));
  ATTUNE_RETURN_IF_ERROR(update.bind(session).run());
  return transaction.commit();
}

Result<std::vector<SessionCandidate>> SqliteStore::load_candidates(SessionId session) {
  ATTUNE_ASSIGN(
      sqlite::Statement rows,
      database_.prepare("SELECT number, trace, trace_hash, predicted_us, round, status,"
                        " record_id, first_us FROM session_candidates WHERE session_id = ?"
                        " ORDER BY number"));
  ATTUNE_ASSIGN(sqlite::Statement find,
                database_.prepare(std::string(kSelectRecord) + "WHERE r.id = ?"));
  rows.bind(session);
  std::vector<SessionCandidate> candidates;
  while (true) {
    ATTUNE_ASSIGN(const bool row, rows.step());
    if (!row) return candidates;
    SessionCandidate& entry = candidates.emplace_back();
    entry.number = rows.integer(0);
    entry.trace = rows.text(1);
    entry.trace_hash = rows.unsigned_integer(2);
    entry.predicted_us = rows.real(3);
    entry.round = rows.integer(4);
    entry.status = parse_status(rows.text(5));
    if (!rows.is_null(7)) entry.first_us = rows.real(7);
    if (entry.status != CandidateStatus::Profiled) continue;
    ATTUNE_ASSIGN(const bool found, find.bind(rows.integer(6)).step());
    if (!found) {
      return Error{ErrorCode::Corrupt,
                   fmt::format("records file '{}' is damaged: record {} of session {} is missing",
                               database_.name(), rows.integer(6), session),
                   "start without --resume"};
    }
    ATTUNE_ASSIGN(Record record, read_record(find));
    entry.record = std::move(record);
  }
}

Result<Session> SqliteStore::load_session(SessionId id) {
  const std::lock_guard lock(mutex_);
  ATTUNE_ASSIGN(const sqlite::Transaction view, sqlite::Transaction::begin_reading(database_));
  ATTUNE_RETURN_IF_ERROR(require_session(id));
  ATTUNE_ASSIGN(sqlite::Statement row,
                database_.prepare("SELECT finished FROM sessions WHERE id = ?"));
  ATTUNE_ASSIGN(const bool found, row.bind(id).step());
  CHECK(found, "a session vanished inside of a transaction");
  Session session;
  session.id = id;
  ATTUNE_ASSIGN(session.spec, read_spec(id));
  session.finished = row.integer(0) != 0;
  ATTUNE_ASSIGN(sqlite::Statement changes,
                database_.prepare("SELECT changes FROM session_changes WHERE session_id = ?"
                                  " ORDER BY id"));
  changes.bind(id);
  while (true) {
    ATTUNE_ASSIGN(const bool next, changes.step());
    if (!next) break;
    session.changes.push_back(changes.text(0));
  }
  ATTUNE_ASSIGN(sqlite::Statement rounds,
                database_.prepare("SELECT round, finished, asked FROM session_rounds"
                                  " WHERE session_id = ? ORDER BY round"));
  rounds.bind(id);
  while (true) {
    ATTUNE_ASSIGN(const bool next, rounds.step());
    if (!next) break;
    session.rounds.push_back({rounds.integer(0), rounds.integer(1) != 0, rounds.integer(2)});
  }
  ATTUNE_ASSIGN(session.candidates, load_candidates(id));
  return session;
}

}  // namespace attune::records
