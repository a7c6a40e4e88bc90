// The Store in one SQLite file. Inside of the records library only; others use store.h.
#pragma once

#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/sqlite/database.h"
#include "tuner/records/store.h"

namespace attune::records {

class SqliteStore final : public Store {
 public:
  explicit SqliteStore(sqlite::Database database) : database_(std::move(database)) {}

  Result<std::vector<RecordId>> add(std::span<const Record> records) override;
  Result<std::size_t> add_new(std::span<const Record> records) override;
  Result<std::vector<bool>> are_known(std::span<const Record> records) override;
  Status confirm(std::span<const Confirmation> confirmations) override;
  Result<std::optional<Record>> best(const BestQuery& query) override;
  Result<std::vector<Record>> top(const BestQuery& query, std::size_t k) override;
  Result<std::vector<Record>> list(const RecordFilter& filter) override;
  Status visit(const RecordFilter& filter,
               const std::function<Status(const Record&)>& take) override;
  Result<TrialCount> count_trials(const std::string& task_key, const std::string& target,
                                  std::optional<SessionId> session) override;
  Result<std::vector<std::uint64_t>> known_traces(const std::string& task_key,
                                                  const std::string& target) override;
  Result<std::size_t> prune(std::size_t keep) override;

  Status put_task(const TaskDefinition& task) override;
  Result<std::optional<TaskDefinition>> task(const std::string& key) override;
  Result<std::vector<TrialGroup>> sample_trials(const SampleQuery& query) override;
  Result<std::size_t> add_hints(std::span<const Hint> hints) override;
  Result<std::vector<Hint>> hints(const HintFilter& filter) override;

  Result<SessionId> create_session(const SessionSpec& spec) override;
  Result<std::optional<SessionId>> find_resumable_session(
      const std::string& task_key, const std::string& target, const std::string& options_key,
      std::optional<std::uint64_t> seed = {}) override;
  Result<SessionSpec> session_spec(SessionId session) override;
  Status append_selected(SessionId session, std::int64_t round,
                         std::span<const SessionCandidate> candidates, const std::string& changes,
                         std::int64_t asked = 0) override;
  Status mark_built(SessionId session, std::span<const std::int64_t> numbers) override;
  Result<std::vector<RecordId>> mark_profiled(SessionId session,
                                              std::span<const Record> records) override;
  Status finish_round(SessionId session, std::int64_t round, const std::string& changes) override;
  Status finish_session(SessionId session) override;
  Result<Session> load_session(SessionId session) override;

  // For tests that need a full disk or look behind the interface.
  sqlite::Database& database() { return database_; }

 private:
  Status require_session(SessionId session);
  Result<SessionSpec> read_spec(SessionId session);
  Status add_changes(SessionId session, const std::string& changes);
  Result<std::vector<SessionCandidate>> load_candidates(SessionId session);

  std::mutex mutex_;
  sqlite::Database database_;
};

}  // namespace attune::records
