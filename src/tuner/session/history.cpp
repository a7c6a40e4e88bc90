#include "tuner/session/history.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <thread>

#include "compiler/ir/text/parse.h"
#include "compiler/ir/text/print.h"
#include "compiler/schedule/algorithm.h"
#include "targets/kinds.h"
#include "tuner/cost_model/analytic.h"
#include "tuner/features/features.h"

namespace attune::session {
namespace {

constexpr std::size_t kLeastPerGroup = 24;
// The part of a group that is its fastest; the rest stands for all others.
constexpr double kFastestShare = 0.4;
constexpr auto kFeatures = features::Kind::Relation;

// A group of the store with all that is needed to replay it.
struct Lesson {
  records::TrialGroup trials;
  std::optional<records::TaskDefinition> definition;
};

struct Learnt {
  cost_model::History::Group group;
  HistoryCounts counts;
};

// The unscheduled programs of a task, each parsed when it is first asked for.
class Programs {
 public:
  explicit Programs(const records::TaskDefinition& definition) : definition_(definition) {}

  enum class Found { Yes, Undefined, Damaged };
  Found find(const std::string& algorithm, const schedule::State*& state) {
    const auto known = states_.find(algorithm);
    if (known != states_.end()) {
      state = known->second ? &*known->second : nullptr;
      return state ? Found::Yes : Found::Damaged;
    }
    for (const auto& program : definition_.programs) {
      if (program.algorithm != algorithm) continue;
      std::optional<schedule::State>& made = states_[algorithm];
      const auto parsed = ir::parse_program(program.text);
      if (parsed.ok() && ir::verify(*parsed).ok()) made = schedule::initial_state(*parsed);
      state = made ? &*made : nullptr;
      return made ? Found::Yes : Found::Damaged;
    }
    return Found::Undefined;
  }

 private:
  const records::TaskDefinition& definition_;
  std::map<std::string, std::optional<schedule::State>> states_;
};

std::optional<space::Scheduled> rebuild(const schedule::State& unscheduled,
                                        const schedule::Trace& trace) {
  space::Scheduled scheduled{unscheduled, {}};
  for (const schedule::Step& step : trace) {
    if (!schedule::perform(scheduled.state, step).ok()) return std::nullopt;
  }
  auto bounds = schedule::infer_bounds(scheduled.state, schedule::Mins::Leave);
  if (!bounds.ok()) return std::nullopt;
  scheduled.bounds = std::move(*bounds);
  return scheduled;
}

class GroupBuilder {
 public:
  GroupBuilder(const Lesson& lesson, const target::Target& target)
      : lesson_(lesson), target_(target), programs_(*lesson.definition), values_(width()) {
    group_.task_key = lesson.trials.task_key;
    group_.target = lesson.trials.target;
    group_.width = width();
  }

  Learnt build() {
    for (const records::Trial& trial : lesson_.trials.trials) add(trial);
    if (times_.size() < cost_model::History::kLeastOfGroup || best_us_ <= 0) {
      counts_.alone += times_.size();
      return {{}, counts_};
    }
    counts_.used += times_.size();
    double worst = 0;
    for (const auto& time : times_) {
      if (time) worst = std::max(worst, std::log(*time / best_us_));
    }
    for (const auto& time : times_) {
      group_.log_ratio.push_back(static_cast<float>(time ? std::log(*time / best_us_) : worst));
    }
    const float least = *std::min_element(group_.analytic.begin(), group_.analytic.end());
    for (float& value : group_.analytic) value -= least;
    return {std::move(group_), counts_};
  }

 private:
  static std::size_t width() { return features::width(kFeatures); }

  void add(const records::Trial& trial) {
    const auto trace = schedule::parse_trace(trial.trace);
    if (!trace.ok()) {
      ++counts_.damaged;
      return;
    }
    const schedule::State* unscheduled = nullptr;
    const auto found = programs_.find(schedule::algorithm_of(*trace), unscheduled);
    if (found == Programs::Found::Undefined) {
      ++counts_.undefined;
      return;
    }
    std::optional<space::Scheduled> scheduled;
    if (found == Programs::Found::Yes) scheduled = rebuild(*unscheduled, *trace);
    if (!scheduled) {
      ++counts_.damaged;
      return;
    }
    features::extract(kFeatures, *scheduled, target_, values_);
    group_.features.insert(group_.features.end(), values_.begin(), values_.end());
    const double predicted = cost_model::predict(*scheduled, target_).us;
    group_.analytic.push_back(static_cast<float>(std::log(std::max(predicted, 1e-6))));
    times_.push_back(trial.time_us);
    if (trial.time_us && (best_us_ == 0 || *trial.time_us < best_us_)) best_us_ = *trial.time_us;
  }

  const Lesson& lesson_;
  const target::Target& target_;
  Programs programs_;
  std::vector<float> values_;
  cost_model::History::Group group_;
  std::vector<std::optional<double>> times_;
  double best_us_ = 0;
  HistoryCounts counts_;
};

// The groups of all stores with their definitions; the first store that knows a group wins.
Result<std::vector<Lesson>> gather(const std::vector<records::Store*>& stores,
                                   const HistoryOptions& options) {
  const auto share = [&](double part) {
    return static_cast<std::size_t>(part * static_cast<double>(options.per_group));
  };
  records::SampleQuery query{.except_task = options.except_task,
                             .except_target = options.except_target,
                             .target_kind = options.target_kind,
                             .fastest = share(kFastestShare),
                             .spread = share(1 - kFastestShare)};
  std::vector<Lesson> lessons;
  std::set<std::tuple<std::string, std::string, records::Weights>> seen;
  for (records::Store* store : stores) {
    ATTUNE_ASSIGN(std::vector<records::TrialGroup> groups, store->sample_trials(query));
    for (records::TrialGroup& group : groups) {
      if (!seen.emplace(group.task_key, group.target, group.weights).second) continue;
      ATTUNE_ASSIGN(auto definition, store->task(group.task_key));
      lessons.push_back({std::move(group), std::move(definition)});
    }
    query.except_task.clear();
  }
  return lessons;
}

// The fastest are in front; of the rest evenly spaced ones stay.
void thin_out(std::vector<records::Trial>& trials, std::size_t most) {
  if (trials.size() <= most) return;
  const auto fastest = static_cast<std::size_t>(kFastestShare * static_cast<double>(most));
  const std::size_t rest = trials.size() - fastest, wanted = most - fastest;
  for (std::size_t i = 0; i < wanted; ++i) {
    trials[fastest + i] = std::move(trials[fastest + i * rest / wanted]);
  }
  trials.resize(most);
}

// Every group gives its share of the total; with very many groups the last ones, i.e. those of the
// youngest tasks, are enough.
void keep_within(std::vector<Lesson>& lessons, const HistoryOptions& options) {
  const std::size_t least = std::min(kLeastPerGroup, options.per_group);
  const std::size_t groups = std::max<std::size_t>(1, options.total / least);
  if (lessons.size() > groups) {
    lessons.erase(lessons.begin(), lessons.end() - static_cast<std::ptrdiff_t>(groups));
  }
  const std::size_t most = std::clamp(options.total / std::max<std::size_t>(1, lessons.size()),
                                      least, options.per_group);
  for (Lesson& lesson : lessons) thin_out(lesson.trials.trials, most);
}

Learnt learn(const Lesson& lesson, const HistoryOptions& options) {
  Learnt learnt;
  const std::size_t count = lesson.trials.trials.size();
  if (!lesson.definition) {
    learnt.counts.undefined = count;
    return learnt;
  }
  auto target = targets::parse(lesson.trials.target);
  if (target.ok() && options.resolve) target = options.resolve(*target);
  if (!target.ok()) {
    learnt.counts.foreign = count;
    return learnt;
  }
  return GroupBuilder(lesson, *target).build();
}

}  // namespace

records::TaskDefinition definition_of(const Task& task) {
  records::TaskDefinition definition{task.key, task.name, task.flops, {}};
  for (const Algorithm& algorithm : task.algorithms) {
    definition.programs.push_back({algorithm.name.empty() ? "direct" : algorithm.name,
                                   ir::to_string(*algorithm.program), algorithm.tolerance});
  }
  return definition;
}

Result<LoadedHistory> load_history(const std::vector<records::Store*>& stores,
                                   const HistoryOptions& options) {
  ATTUNE_ASSIGN(std::vector<Lesson> lessons, gather(stores, options));
  keep_within(lessons, options);
  std::vector<Learnt> learnt(lessons.size());
  std::atomic<std::size_t> next = 0;
  const auto work = [&] {
    for (std::size_t i = next++; i < lessons.size(); i = next++) {
      learnt[i] = learn(lessons[i], options);
    }
  };
  std::vector<std::thread> others;
  for (int i = 1; i < options.threads; ++i) others.emplace_back(work);
  work();
  for (std::thread& other : others) other.join();

  auto history = std::make_shared<cost_model::History>();
  LoadedHistory loaded;
  for (Learnt& one : learnt) {
    loaded.counts.used += one.counts.used;
    loaded.counts.undefined += one.counts.undefined;
    loaded.counts.damaged += one.counts.damaged;
    loaded.counts.foreign += one.counts.foreign;
    loaded.counts.alone += one.counts.alone;
    if (!one.group.log_ratio.empty()) history->add(std::move(one.group));
  }
  loaded.history = std::move(history);
  return loaded;
}

std::vector<std::pair<std::string, std::size_t>> HistoryCounts::left_out() const {
  std::vector<std::pair<std::string, std::size_t>> reasons = {
      {"of tasks without definition", undefined},
      {"that do not fit this version", damaged},
      {"of unknown targets", foreign},
      {"of tasks with too few to compare", alone}};
  std::erase_if(reasons, [](const auto& reason) { return reason.second == 0; });
  return reasons;
}

std::size_t LoadedHistory::tasks() const {
  std::set<std::string> keys;
  for (const auto& group : history->groups()) keys.insert(group.task_key);
  return keys.size();
}

std::string describe(const LoadedHistory& loaded) {
  std::vector<std::string> left_out;
  for (const auto& [reason, count] : loaded.counts.left_out()) {
    left_out.push_back(fmt::format("{} {}", count, reason));
  }
  std::string text;
  if (loaded.counts.used > 0) {
    const std::size_t tasks = loaded.tasks();
    text = fmt::format("learning from {} trials of {} {}", loaded.counts.used, tasks,
                       tasks == 1 ? "task" : "tasks");
  }
  if (left_out.empty()) return text;
  return fmt::format("{}{}", text.empty() ? "history left out: " : text + "; left out: ",
                     fmt::join(left_out, ", "));
}

}  // namespace attune::session
