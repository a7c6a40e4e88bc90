// The store of records and sessions. Every call is one transaction: when it returns success its
// effect survives kill -9 and power loss, and when it fails nothing of it is there. A Store may be
// used from several threads; several processes may use one file, one writing at a time.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "tuner/records/hint.h"
#include "tuner/records/record.h"
#include "tuner/records/task_definition.h"
#include "tuner/records/trial_sample.h"

namespace attune::records {

// Which timings compete with each other.
struct BestQuery {
  std::string task_key;
  std::string target;
  Weights weights = Weights::Hot;
  bool verified_only = true;
};

// Which records to list, newest first; an empty text or missing value does not restrict.
struct RecordFilter {
  std::string task = {};  // a task's key or its name
  std::string target = {};
  std::optional<SessionId> session = {};
  std::optional<std::size_t> limit = {};
};

// Which hints to list; an empty text or missing value does not restrict.
struct HintFilter {
  std::string task = {};    // a task's key or its name
  std::string anchor = {};  // an anchor's key
  std::optional<std::size_t> limit = {};
};

// Distinct candidates of a task by what became of them. Those that ran count as trials, whatever
// the device said; those that failed to build or were lost to the infrastructure do not.
struct TrialCount {
  std::size_t trials = 0;
  std::size_t build_failed = 0;
  std::size_t lost = 0;
};

// A second look at a stored record: timed again among the best, or checked against the reference.
struct Confirmation {
  RecordId id = 0;
  outcome::Outcome outcome;
  NoiseFacts noise;
  bool verified = false;
};

class Store {
 public:
  virtual ~Store() = default;

  // Records.
  virtual Result<std::vector<RecordId>> add(std::span<const Record> records) = 0;
  // Adds those whose content is not there yet; the number added.
  virtual Result<std::size_t> add_new(std::span<const Record> records) = 0;
  // Which of them are there already, by their content; writes nothing.
  virtual Result<std::vector<bool>> are_known(std::span<const Record> records) = 0;
  // Replaces outcome, noise and verified of stored records.
  virtual Status confirm(std::span<const Confirmation> confirmations) = 0;
  virtual Result<std::optional<Record>> best(const BestQuery& query) = 0;
  // The k fastest, fastest first, each trace once.
  virtual Result<std::vector<Record>> top(const BestQuery& query, std::size_t k) = 0;
  virtual Result<std::vector<Record>> list(const RecordFilter& filter) = 0;
  // The same one by one, for what may not fit into memory. `take` must not use the store; when it
  // fails, the visit ends with its error.
  virtual Status visit(const RecordFilter& filter,
                       const std::function<Status(const Record&)>& take) = 0;
  virtual Result<TrialCount> count_trials(const std::string& task_key, const std::string& target,
                                          std::optional<SessionId> session = {}) = 0;
  // Hashes of the traces that need no further try, ascending: all with an outcome of their own,
  // not those that the infrastructure lost.
  virtual Result<std::vector<std::uint64_t>> known_traces(const std::string& task_key,
                                                          const std::string& target) = 0;
  // Keeps the `keep` fastest verified traces of each task, target and weights, and everything that
  // belongs to an unfinished session; the number of records removed.
  virtual Result<std::size_t> prune(std::size_t keep) = 0;

  // Definitions of tasks. Programs that are there already are replaced, others stay.
  virtual Status put_task(const TaskDefinition& task) = 0;
  virtual Result<std::optional<TaskDefinition>> task(const std::string& key) = 0;
  // In the order in which tasks and targets were first recorded.
  virtual Result<std::vector<TrialGroup>> sample_trials(const SampleQuery& query) = 0;
  // Hints. A schedule that is known from the same place keeps the lower of its times; the number of
  // those that are new.
  virtual Result<std::size_t> add_hints(std::span<const Hint> hints) = 0;
  // Task by task, each schedule once: the best of every place, then the second best, and so on.
  virtual Result<std::vector<Hint>> hints(const HintFilter& filter) = 0;

  // Sessions.
  virtual Result<SessionId> create_session(const SessionSpec& spec) = 0;
  // The newest session with these keys, and with this seed where one is given, finished or not: a
  // larger budget continues a finished one.
  virtual Result<std::optional<SessionId>> find_resumable_session(
      const std::string& task_key, const std::string& target, const std::string& options_key,
      std::optional<std::uint64_t> seed = {}) = 0;
  // What it was begun with.
  virtual Result<SessionSpec> session_spec(SessionId session) = 0;
  // Opens `round` with these candidates, of which number, trace and prediction count; a finished
  // session is open again. `changes`, here and in finish_round, are those of the search since the
  // last call.
  virtual Status append_selected(SessionId session, std::int64_t round,
                                 std::span<const SessionCandidate> candidates,
                                 const std::string& changes, std::int64_t asked = 0) = 0;
  virtual Status mark_built(SessionId session, std::span<const std::int64_t> numbers) = 0;
  // Stores the records of candidates, whose numbers they have; the ids in the same order.
  virtual Result<std::vector<RecordId>> mark_profiled(SessionId session,
                                                      std::span<const Record> records) = 0;
  // Needs all candidates of the round to be profiled.
  virtual Status finish_round(SessionId session, std::int64_t round,
                              const std::string& changes) = 0;
  virtual Status finish_session(SessionId session) = 0;
  virtual Result<Session> load_session(SessionId session) = 0;
};

// For writing: makes file and directories where they are missing, and brings an older file up to
// date.
Result<std::unique_ptr<Store>> open_sqlite_store(const std::string& path);

// For reading: never changes or creates a file; one that does not exist has no records. Calls that
// write fail.
Result<std::unique_ptr<Store>> open_sqlite_store_for_reading(const std::string& path);

// Where records live unless the user names a file: $XDG_DATA_HOME/attune/records.db, else
// ~/.local/share/attune/records.db.
Result<std::string> default_records_path();
// The same for given values of XDG_DATA_HOME and HOME, which may be null.
Result<std::string> default_records_path(const char* xdg_data_home, const char* home);

}  // namespace attune::records
