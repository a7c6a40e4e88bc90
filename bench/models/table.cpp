#include "bench/models/table.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "bench/algorithms.h"
#include "compiler/frontend/op_spec/op_spec.h"
#include "targets/kinds.h"
#include "tuner/cost_model/analytic.h"
#include "tuner/features/features.h"
#include "tuner/records/store.h"
#include "tuner/space/template_space.h"
#include "tuner/space/trace_lookup.h"
#include "tuner/templates/templates.h"

namespace attune::bench {
namespace {

constexpr std::uint64_t kMostPoints = 2'000'000;

Result<std::map<std::string, Recorded>> read_records(const std::string& path) {
  ATTUNE_ASSIGN(auto store, records::open_sqlite_store_for_reading(path));
  std::map<std::string, Recorded> tasks;  // by name and target
  const auto take = [&](const records::Record& record) -> Status {
    if (std::holds_alternative<outcome::InfrastructureLost>(record.outcome)) return {};
    Recorded& task = tasks[record.task_name + " " + record.target];
    task.key = record.task_key;
    task.target = record.target;
    std::optional<double>& known = task.times[record.trace_hash];
    if (const auto* timing = std::get_if<outcome::Timing>(&record.outcome)) {
      known = known ? std::min(*known, timing->best_us) : timing->best_us;
    }
    return {};
  };
  ATTUNE_RETURN_IF_ERROR(store->visit({}, take));
  return tasks;
}

}  // namespace

Result<Table> table_of(const std::string& name, const Recorded& recorded) {
  ATTUNE_ASSIGN(const target::Target wanted, targets::parse(recorded.target));
  ATTUNE_ASSIGN(const target::Target target, targets::resolve(wanted));
  ATTUNE_ASSIGN(const auto task, op_spec::parse_op_spec(name, target));
  Table table{name, recorded.key, recorded.target, nullptr, {}, 0};
  table.space =
      std::make_unique<space::TemplateSpace>(algorithms_of(task), templates::all(), target);
  const cost_model::AnalyticModel model(target);
  auto left = recorded.times;
  const auto take = [&](space::Point point, std::uint64_t hash) {
    const auto found = left.find(hash);
    if (found == left.end()) return;
    if (const auto scheduled = table.space->schedule_of(point); scheduled.ok()) {
      table.trials.push_back({.trace = {},
                              .point = std::move(point),
                              .predicted_us = model.predict_us(*scheduled),
                              .time_us = found->second});
    }
    left.erase(found);
  };
  space::TraceLookup lookup(*table.space);
  for (const auto& [hash, trace] : recorded.traces) {
    if (auto point = lookup.find(trace)) take(std::move(*point), hash);
  }
  if (recorded.traces.empty()) {
    const std::uint64_t size = table.space->size();
    if (size > kMostPoints) return unsupported("the space is too large to go through");
    for (std::uint64_t i = 0; i < size && !left.empty(); ++i) {
      space::Point point = table.space->point_at(i);
      const std::uint64_t hash = schedule::hash(table.space->trace_of(point));
      take(std::move(point), hash);
    }
  }
  table.foreign = left.size();
  return table;
}

namespace {

cost_model::History::Group group_of(const Table& table, features::Kind kind) {
  cost_model::History::Group group;
  group.task_key = table.key;
  group.target = table.target;
  group.width = features::width(kind, *table.space);
  double slowest = 0, least = 1e300;
  for (const auto& trial : table.trials) {
    if (trial.time_us) slowest = std::max(slowest, *trial.time_us);
    least = std::min(least, trial.predicted_us);
  }
  for (const auto& trial : table.trials) {
    const std::size_t at = group.features.size();
    group.features.resize(at + group.width);
    const std::span<float> row(&group.features[at], group.width);
    if (kind == features::Kind::Knob) {
      features::extract_knobs(*table.space, *trial.point, row);
    } else {
      features::extract(kind, *table.space->schedule_of(*trial.point), table.space->target(), row);
    }
    const double us = trial.time_us.value_or(slowest);
    group.log_ratio.push_back(static_cast<float>(std::log(us / table.best_us())));
    group.analytic.push_back(static_cast<float>(std::log(trial.predicted_us / least)));
  }
  return group;
}

}  // namespace

double Table::best_us() const {
  double best = 1e300;
  for (const auto& trial : trials) best = std::min(best, trial.time_us.value_or(1e300));
  return best;
}

Result<std::vector<Table>> read_tables(const std::string& store, std::size_t least) {
  ATTUNE_ASSIGN(const auto tasks, read_records(store));
  std::vector<Table> tables;
  for (const auto& [name_and_target, recorded] : tasks) {
    if (recorded.times.size() < least) continue;
    auto table = table_of(name_and_target.substr(0, name_and_target.find(' ')), recorded);
    if (table.ok() && table->trials.size() >= least) tables.push_back(std::move(*table));
  }
  return tables;
}

cost_model::History history_without(const std::vector<Table>& tables, const std::string& key,
                                    features::Kind kind) {
  cost_model::History history(kind);
  for (const Table& table : tables) {
    if (table.key != key) history.add(group_of(table, kind));
  }
  return history;
}

}  // namespace attune::bench
