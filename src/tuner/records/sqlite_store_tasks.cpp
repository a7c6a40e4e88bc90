// Definitions of tasks, and samples of what was tried of them.
#include <algorithm>
#include <map>
#include <unordered_map>

#include "tuner/records/sqlite_rows.h"
#include "tuner/records/sqlite_store.h"

namespace attune::records {
namespace {

struct TaskTarget {
  std::int64_t id = 0;
  std::string task_key, target;
};

bool is_of_kind(const std::string& target, const std::string& kind) {
  return kind.empty() || target.substr(0, target.find(' ')) == kind;
}

// Trials of one task and target by weights; a trace that was tried twice keeps its lower time.
class Sampler {
 public:
  explicit Sampler(const TaskTarget& of) {
    for (const Weights weights : {Weights::Hot, Weights::Cold}) {
      TrialGroup& group = groups_[weights];
      group.task_key = of.task_key;
      group.target = of.target;
      group.weights = weights;
    }
  }

  // Rows of trace, trace_hash, time_us, weights.
  Status take(sqlite::Statement& rows) {
    while (true) {
      ATTUNE_ASSIGN(const bool row, rows.step());
      if (!row) return {};
      const Weights weights =
          rows.text(3) == weights_text(Weights::Cold) ? Weights::Cold : Weights::Hot;
      Trial trial{rows.text(0), rows.unsigned_integer(1), std::nullopt};
      if (!rows.is_null(2)) trial.time_us = rows.real(2);
      std::vector<Trial>& trials = groups_[weights].trials;
      const auto [known, is_new] = places_[weights].emplace(trial.trace_hash, trials.size());
      if (is_new) {
        trials.push_back(std::move(trial));
      } else if (Trial& held = trials[known->second]; slower(held, trial)) {
        held = std::move(trial);
      }
    }
  }

  void finish(std::vector<TrialGroup>& groups) {
    for (auto& [weights, group] : groups_) {
      if (group.trials.empty()) continue;
      std::stable_sort(group.trials.begin(), group.trials.end(),
                       [](const Trial& a, const Trial& b) { return slower(b, a); });
      groups.push_back(std::move(group));
    }
  }

 private:
  static bool slower(const Trial& a, const Trial& b) {
    if (!a.time_us || !b.time_us) return !a.time_us && b.time_us;
    return *a.time_us > *b.time_us;
  }

  std::map<Weights, TrialGroup> groups_;
  std::map<Weights, std::unordered_map<std::uint64_t, std::size_t>> places_;
};

Result<std::vector<TaskTarget>> task_targets(sqlite::Database& database, const SampleQuery& query) {
  ATTUNE_ASSIGN(sqlite::Statement rows,
                database.prepare("SELECT id, task_key, target FROM task_targets ORDER BY id"));
  std::vector<TaskTarget> found;
  while (true) {
    ATTUNE_ASSIGN(const bool row, rows.step());
    if (!row) return found;
    TaskTarget of{rows.integer(0), rows.text(1), rows.text(2)};
    if (of.task_key == query.except_task && of.target == query.except_target) continue;
    if (is_of_kind(of.target, query.target_kind)) found.push_back(std::move(of));
  }
}

}  // namespace

Status SqliteStore::put_task(const TaskDefinition& task) {
  const std::lock_guard lock(mutex_);
  ATTUNE_ASSIGN(sqlite::Transaction transaction, sqlite::Transaction::begin(database_));
  ATTUNE_ASSIGN(sqlite::Statement put_task,
                database_.prepare("INSERT OR REPLACE INTO tasks(key, name, flops) VALUES(?,?,?)"));
  ATTUNE_RETURN_IF_ERROR(put_task.bind(task.key, task.name, task.flops).run());
  ATTUNE_ASSIGN(sqlite::Statement put_program,
                database_.prepare("INSERT OR REPLACE INTO task_programs(task_key, algorithm, text,"
                                  " tolerance) VALUES(?,?,?,?)"));
  for (const TaskDefinition::Program& program : task.programs) {
    put_program.bind(task.key, program.algorithm, program.text, program.tolerance);
    ATTUNE_RETURN_IF_ERROR(put_program.run());
  }
  return transaction.commit();
}

Result<std::optional<TaskDefinition>> SqliteStore::task(const std::string& key) {
  const std::lock_guard lock(mutex_);
  ATTUNE_ASSIGN(sqlite::Statement find,
                database_.prepare("SELECT name, flops FROM tasks WHERE key = ?"));
  ATTUNE_ASSIGN(const bool found, find.bind(key).step());
  if (!found) return std::optional<TaskDefinition>();
  TaskDefinition task{key, find.text(0), find.real(1), {}};
  ATTUNE_ASSIGN(sqlite::Statement rows,
                database_.prepare("SELECT algorithm, text, tolerance FROM task_programs WHERE"
                                  " task_key = ? ORDER BY algorithm != 'direct', algorithm"));
  rows.bind(key);
  while (true) {
    ATTUNE_ASSIGN(const bool row, rows.step());
    if (!row) return std::optional(std::move(task));
    task.programs.push_back({rows.text(0), rows.text(1), rows.real(2)});
  }
}

Result<std::vector<TrialGroup>> SqliteStore::sample_trials(const SampleQuery& query) {
  const std::lock_guard lock(mutex_);
  ATTUNE_ASSIGN(const std::vector<TaskTarget> targets, task_targets(database_, query));
  ATTUNE_ASSIGN(sqlite::Statement fastest,
                database_.prepare("SELECT trace, trace_hash, time_us, weights FROM records WHERE"
                                  " task_target_id = ? AND weights = ? AND time_us IS NOT NULL"
                                  " ORDER BY time_us LIMIT ?"));
  // Hashes are as good as random numbers, and there is an index by them.
  ATTUNE_ASSIGN(sqlite::Statement spread,
                database_.prepare("SELECT trace, trace_hash, time_us, weights FROM records WHERE"
                                  " task_target_id = ? AND outcome != 'infrastructure_lost'"
                                  " ORDER BY trace_hash LIMIT ?"));
  std::vector<TrialGroup> groups;
  for (const TaskTarget& of : targets) {
    Sampler sampler(of);
    for (const Weights weights : {Weights::Hot, Weights::Cold}) {
      fastest.bind(of.id, weights_text(weights), static_cast<std::int64_t>(query.fastest));
      ATTUNE_RETURN_IF_ERROR(sampler.take(fastest));
    }
    spread.bind(of.id, static_cast<std::int64_t>(query.spread));
    ATTUNE_RETURN_IF_ERROR(sampler.take(spread));
    sampler.finish(groups);
  }
  return groups;
}

}  // namespace attune::records
