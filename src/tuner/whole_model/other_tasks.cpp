#include "tuner/whole_model/other_tasks.h"

#include <algorithm>

#include "compiler/model/schedules/known_schedule.h"
#include "runtime/execution/usable_cores.h"
#include "targets/kinds.h"

namespace attune::whole_model {

Result<std::unique_ptr<records::Store>> open_history(const std::string& option) {
  ATTUNE_ASSIGN(const std::optional<std::string> path, model::history_path(option));
  if (!path) return std::unique_ptr<records::Store>();
  auto store = records::open_sqlite_store_for_reading(*path);
  if (store.ok()) return store;
  // What is said about records files in general names the other option.
  Error error = store.error();
  const std::string other = "--records PATH";
  if (const std::size_t at = error.hint.find(other); at != std::string::npos) {
    error.hint.replace(at, other.size(), "--history PATH");
  }
  return error;
}

Result<session::LoadedHistory> learn_from_others(records::Store& own, const std::string& history,
                                                 const target::Target& target,
                                                 const std::string& except) {
  if (history == "none") {
    return session::LoadedHistory{std::make_shared<const cost_model::History>(), {}};
  }
  std::vector<records::Store*> stores = {&own};
  ATTUNE_ASSIGN(const std::unique_ptr<records::Store> named, open_history(history));
  if (named) stores.push_back(named.get());
  session::HistoryOptions options;
  options.except_task = except;
  options.except_target = target::to_string(target);
  options.target_kind = target.kind;
  options.resolve = targets::resolve;
  options.threads = static_cast<int>(std::min<std::size_t>(runtime::usable_cores().size(), 8));
  return session::load_history(stores, options);
}

Status bring_best(records::Store& from, const records::BestQuery& query, records::Store& to) {
  constexpr std::size_t kBrought = 16;
  ATTUNE_ASSIGN(std::vector<records::Record> best, from.top(query, kBrought));
  if (best.empty()) return {};
  for (records::Record& record : best) record.session = 0;
  ATTUNE_ASSIGN(const std::size_t added, to.add_new(best));
  (void)added;
  return {};
}

Status bring_hints(records::Store& from, const std::string& task_key, const std::string& anchor_key,
                   records::Store& to) {
  constexpr std::size_t kBrought = 8;
  ATTUNE_ASSIGN(std::vector<records::Hint> hints,
                from.hints({.task = task_key, .limit = kBrought}));
  if (!anchor_key.empty()) {
    ATTUNE_ASSIGN(const std::vector<records::Hint> near,
                  from.hints({.anchor = anchor_key, .limit = kBrought}));
    hints.insert(hints.end(), near.begin(), near.end());
  }
  if (hints.empty()) return {};
  ATTUNE_ASSIGN(const std::size_t added, to.add_hints(hints));
  (void)added;
  return {};
}

Result<model::Bundle> bundle_for(const std::string& history) {
  if (history == "none") return model::Bundle();
  return model::shipped_bundle();
}

Status hint_shipped(const model::Bundle& bundle, const model::ScheduledTask& task,
                    const std::string& task_name, const target::Target& target,
                    records::Store& store) {
  constexpr std::size_t kHints = 4;
  std::vector<records::Hint> hints;
  for (const model::ShippedSchedule& schedule :
       model::shipped_schedules(bundle, task, target, kHints)) {
    hints.push_back({.task_key = task.key,
                     .task_name = task_name,
                     .trace = schedule::to_string(schedule.trace),
                     .trace_hash = schedule::hash(schedule.trace),
                     .time_us = schedule.time_us,
                     .foreign_target = schedule.same_task
                                           ? schedule.target
                                           : schedule.task + " on " + schedule.target,
                     .source = std::string(records::kShippedSource),
                     .created_at_ms = 0});
  }
  if (hints.empty()) return {};
  ATTUNE_ASSIGN(const std::size_t added, store.add_hints(hints));
  (void)added;
  return {};
}

}  // namespace attune::whole_model
