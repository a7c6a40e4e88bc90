#include "tuner/records/sqlite_rows.h"

#include "base/hash.h"
#include "tuner/records/record_json.h"

namespace attune::records {

const char* const kSelectRecord =
    "SELECT r.id, t.task_key, r.task_name, t.target, r.trace, r.trace_hash, r.outcome_detail,"
    " r.weights, r.build_ms, r.run_ms, r.wait_ms, r.product_version, r.device, r.cv,"
    " r.sentinel_drift, r.seed, r.session_id, r.number, r.verified, r.created_at_ms"
    " FROM records r JOIN task_targets t ON t.id = r.task_target_id ";

Result<Record> read_record(const sqlite::Statement& row) {
  ATTUNE_ASSIGN(outcome::Outcome outcome, outcome_from_json(row.text(6)));
  Record record;
  record.id = row.integer(0);
  record.task_key = row.text(1);
  record.task_name = row.text(2);
  record.target = row.text(3);
  record.trace = row.text(4);
  record.trace_hash = row.unsigned_integer(5);
  record.outcome = std::move(outcome);
  record.weights = row.text(7) == weights_text(Weights::Cold) ? Weights::Cold : Weights::Hot;
  record.stages = {row.real(8), row.real(9), row.real(10)};
  record.product_version = row.text(11);
  record.device = row.text(12);
  record.noise = {row.real(13), row.real(14)};
  record.seed = row.unsigned_integer(15);
  record.session = row.integer(16);
  record.number = row.integer(17);
  record.verified = row.integer(18) != 0;
  record.created_at_ms = row.integer(19);
  return record;
}

RecordInserter::RecordInserter(sqlite::Database& database, sqlite::Statement insert,
                               sqlite::Statement find, sqlite::Statement create)
    : database_(&database),
      insert_(std::move(insert)),
      find_task_target_(std::move(find)),
      create_task_target_(std::move(create)) {}

Result<RecordInserter> RecordInserter::create(sqlite::Database& database) {
  ATTUNE_ASSIGN(sqlite::Statement insert,
                database.prepare(
                    "INSERT INTO records(task_target_id, task_name, trace, trace_hash, outcome,"
                    " outcome_detail, time_us, weights, build_ms, run_ms, wait_ms, product_version,"
                    " device, cv, sentinel_drift, seed, session_id, number, verified,"
                    " created_at_ms, fingerprint)"
                    " VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)"));
  ATTUNE_ASSIGN(sqlite::Statement find, database.prepare("SELECT id FROM task_targets"
                                                         " WHERE task_key = ? AND target = ?"));
  ATTUNE_ASSIGN(sqlite::Statement create,
                database.prepare("INSERT INTO task_targets(task_key, target) VALUES(?, ?)"));
  return RecordInserter(database, std::move(insert), std::move(find), std::move(create));
}

Result<std::int64_t> RecordInserter::task_target_id(const Record& record) {
  const std::pair key(record.task_key, record.target);
  if (const auto known = task_targets_.find(key); known != task_targets_.end()) {
    return known->second;
  }
  ATTUNE_ASSIGN(const bool found, find_task_target_.bind(record.task_key, record.target).step());
  std::int64_t id = 0;
  if (found) {
    id = find_task_target_.integer(0);
  } else {
    ATTUNE_RETURN_IF_ERROR(create_task_target_.bind(record.task_key, record.target).run());
    id = database_->last_inserted_id();
  }
  task_targets_.emplace(key, id);
  return id;
}

Result<RecordId> RecordInserter::insert(const Record& r) {
  ATTUNE_ASSIGN(const std::int64_t task_target, task_target_id(r));
  insert_.bind(task_target, r.task_name, r.trace, r.trace_hash, outcome::kind_of(r.outcome),
               outcome_to_json(r.outcome), competing_time_us(r.outcome), weights_text(r.weights),
               r.stages.build_ms, r.stages.run_ms, r.stages.wait_ms, r.product_version, r.device,
               r.noise.cv, r.noise.sentinel_drift, r.seed, r.session, r.number, r.verified,
               r.created_at_ms, fingerprint(r));
  ATTUNE_RETURN_IF_ERROR(insert_.run());
  return database_->last_inserted_id();
}

std::string weights_text(Weights weights) { return weights == Weights::Cold ? "cold" : "hot"; }

std::uint64_t fingerprint(const Record& record) { return hash_bytes(record_to_json_line(record)); }

}  // namespace attune::records
