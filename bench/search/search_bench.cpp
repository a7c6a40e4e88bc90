#include "bench/search/search_bench.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <unordered_map>

#include "compiler/frontend/op_spec/op_spec.h"
#include "targets/kinds.h"
#include "tuner/session/explorer_search.h"
#include "tuner/tunings/tunings.h"

namespace attune::bench {
namespace {

class Watch {
 public:
  double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

// A trial of a round: proposed, then known from the file or measured.
struct Trial {
  space::Candidate candidate;
  bool known = false;
};

// Of a row: ';' between the steps.
Result<schedule::Trace> trace_of(std::string text) {
  std::replace(text.begin(), text.end(), ';', '\n');
  return schedule::parse_trace(text);
}

std::vector<Trial> propose(session::Search& search, std::size_t count,
                           const std::unordered_map<std::uint64_t, const TrialRow*>& known) {
  std::vector<Trial> trials;
  for (auto& proposal : search.select(count)) {
    Trial trial{std::move(proposal), false};
    if (const auto found = known.find(trial.candidate.trace_hash); found != known.end()) {
      trial.candidate.time_us = found->second->us;
      trial.known = true;
    }
    trials.push_back(std::move(trial));
  }
  return trials;
}

void observe(session::Search& search, const std::vector<Trial>& trials) {
  std::vector<space::Candidate> tried;
  for (const Trial& trial : trials) tried.push_back(trial.candidate);
  search.update(tried);
}

}  // namespace

SearchBench::SearchBench(target::Target target, std::unique_ptr<measure::Runner> runner)
    : target_(std::move(target)),
      runner_(std::move(runner)),
      builder_({.target = target_, .cores = {}}) {}

Result<std::unique_ptr<SearchBench>> SearchBench::start(const std::string& target) {
  ATTUNE_ASSIGN(const target::Target wanted, targets::parse(target));
  ATTUNE_ASSIGN(target::Target resolved, targets::resolve(wanted));
  const tuning::CorePlan cores = tunings::plan_cores(resolved);
  ATTUNE_ASSIGN(auto runner, tunings::tuning_of(resolved).start_runner(
                                 {.target = resolved, .cores = cores.measure}));
  return std::unique_ptr<SearchBench>(new SearchBench(std::move(resolved), std::move(runner)));
}

Result<session::Task> SearchBench::task_of(const std::string& spec) const {
  ATTUNE_ASSIGN(const op_spec::OpTask op, op_spec::parse_op_spec(spec, target_));
  session::Task task{.key = op.key, .name = op.spec, .flops = op.flops, .algorithms = {}};
  const auto competes = [&](const std::string& name) {
    return op.algorithm == "auto" || op.algorithm == name;
  };
  task.algorithms.push_back({"direct", std::make_shared<const ir::Program>(op.program),
                             op.tolerance, competes("direct")});
  for (const auto& other : op.alternatives) {
    if (!competes(other.name)) continue;
    task.algorithms.push_back(
        {other.name, std::make_shared<const ir::Program>(other.program), other.tolerance});
  }
  return task;
}

Result<std::size_t> SearchBench::learn_from(const CurveFile& lessons, const std::string& target) {
  ATTUNE_ASSIGN(const target::Target wanted, targets::parse(target));
  ATTUNE_ASSIGN(const target::Target resolved, targets::resolve(wanted));
  lessons_of_other_target_ = target::to_string(resolved) != target::to_string(target_);
  std::map<std::string, Recorded> operators;
  for (const auto& [key, curve] : lessons.curves()) {
    Recorded& recorded = operators[key.spec];
    recorded.target = target::to_string(resolved);
    for (const TrialRow& row : curve) {
      recorded.times.emplace(row.trace_hash, row.us);
      if (row.trace.empty()) continue;
      ATTUNE_ASSIGN(schedule::Trace trace, trace_of(row.trace));
      recorded.traces.emplace(row.trace_hash, std::move(trace));
    }
  }
  std::size_t trials = 0;
  for (auto& [spec, recorded] : operators) {
    ATTUNE_ASSIGN(const session::Task task, task_of(spec));
    recorded.key = task.key;
    ATTUNE_ASSIGN(Table table, table_of(spec, recorded));
    trials += table.trials.size();
    if (!table.trials.empty()) lessons_.push_back(std::move(table));
  }
  return trials;
}

Result<std::shared_ptr<const cost_model::History>> SearchBench::history_for(
    const session::Task& task, const Variant& variant) const {
  if (variant.history == "none") return std::shared_ptr<const cost_model::History>();
  ATTUNE_ASSIGN(const features::Kind kind, features::parse_kind(variant.history));
  const std::string left_out = lessons_of_other_target_ ? "" : task.key;
  return std::make_shared<const cost_model::History>(history_without(lessons_, left_out, kind));
}

std::vector<measure::BuiltCandidate> SearchBench::build(const session::Task& task,
                                                        const std::vector<schedule::Trace>& traces,
                                                        bool whatever_it_costs) {
  std::vector<measure::BuildRequest> requests;
  for (const schedule::Trace& trace : traces) {
    const auto algorithm = session::algorithm_of(task, trace);
    CHECK(algorithm.ok(), "traces use algorithms of the task");
    requests.push_back({.candidate = {.trace = trace, .number = std::ssize(requests)},
                        .program = (*algorithm)->program,
                        .whatever_it_costs = whatever_it_costs});
  }
  return builder_.build(requests);
}

Result<std::vector<std::optional<double>>> SearchBench::measure(
    const SearchRun& run, const std::vector<schedule::Trace>& traces, double best_us,
    std::map<std::string, int>& failures) {
  std::vector<std::optional<double>> times(traces.size());
  const auto built = build(run.task, traces, false);
  std::vector<measure::RunRequest> runs;
  std::vector<std::size_t> owners;
  for (std::size_t i = 0; i < built.size(); ++i) {
    if (built[i].failure) {
      ++failures[outcome::describe(*built[i].failure)];
      continue;
    }
    runs.push_back({&built[i], 0});
    owners.push_back(i);
  }
  measure::RunOptions options{.weights = run.weights, .best_known_us = best_us};
  options.budget_us = run.variant.repeats * options.repeat_us;
  options.timeout_ms = 2000;
  ATTUNE_ASSIGN(const auto results, runner_->measure(runs, {}, options));
  for (std::size_t i = 0; i < results.size(); ++i) {
    const auto* timing = std::get_if<outcome::Timing>(&results[i].outcome);
    if (timing) {
      times[owners[i]] = timing->best_us;
    } else {
      ++failures[std::string(outcome::kind_of(results[i].outcome))];
    }
  }
  return times;
}

Result<SearchCost> SearchBench::search(const SearchRun& run, CurveFile& file,
                                       const std::function<bool()>& out_of_time) {
  const RunKey key{run.task.name, run.variant.name, run.seed};
  SearchCost cost;
  if (file.curve(key).size() >= run.trials) return cost;
  const Curve before = file.curve(key);
  std::unordered_map<std::uint64_t, const TrialRow*> known;
  for (const TrialRow& row : before) known.emplace(row.trace_hash, &row);
  ATTUNE_ASSIGN(const auto history, history_for(run.task, run.variant));
  ATTUNE_ASSIGN(auto search, session::make_template_search(run.task, target_, run.variant.search,
                                                           run.seed, history));
  std::size_t trials = 0;
  double update_seconds = 0;
  while (trials < run.trials) {
    if (out_of_time()) {
      cost.complete = false;
      break;
    }
    const Watch selecting;
    auto round = propose(*search, std::min(run.variant.batch, run.trials - trials), known);
    cost.select_seconds += selecting.seconds();
    cost.longest_choice_seconds =
        std::max(cost.longest_choice_seconds, update_seconds + selecting.seconds());
    if (round.empty()) break;
    std::vector<schedule::Trace> fresh;
    for (const Trial& trial : round) {
      if (!trial.known) fresh.push_back(trial.candidate.trace);
    }
    const Watch measuring;
    const Curve& curve = file.curve(key);
    ATTUNE_ASSIGN(const auto times,
                  measure(run, fresh, curve.empty() ? 0 : curve.back().best_us, cost.failures));
    cost.measure_seconds += measuring.seconds();
    std::size_t next = 0;
    for (Trial& trial : round) {
      if (trial.known) continue;
      trial.candidate.time_us = times[next++];
      ATTUNE_RETURN_IF_ERROR(file.add(key, trial.candidate.trace_hash, trial.candidate.time_us,
                                      schedule::to_string(trial.candidate.trace)));
    }
    const Watch updating;
    observe(*search, round);
    update_seconds = updating.seconds();
    cost.update_seconds += update_seconds;
    trials += round.size();
    cost.measured += fresh.size();
    ++cost.rounds;
  }
  return cost;
}

Result<std::vector<double>> SearchBench::compare(const session::Task& task,
                                                 const std::vector<std::string>& texts,
                                                 records::Weights weights) {
  std::vector<schedule::Trace> traces;
  for (const std::string& text : texts) {
    ATTUNE_ASSIGN(schedule::Trace trace, trace_of(text));
    traces.push_back(std::move(trace));
  }
  const auto built = build(task, traces, true);
  std::vector<measure::RunRequest> runs;
  std::vector<std::size_t> owners;
  for (std::size_t i = 0; i < built.size(); ++i) {
    if (built[i].failure) continue;
    runs.push_back({&built[i], 0});
    owners.push_back(i);
  }
  ATTUNE_ASSIGN(const auto results, runner_->compare(runs, {}, {.weights = weights}));
  std::vector<double> us(traces.size(), 0);
  for (std::size_t i = 0; i < results.size(); ++i) {
    const auto* timing = std::get_if<outcome::Timing>(&results[i].outcome);
    if (timing) us[owners[i]] = timing->best_us;
  }
  return us;
}

}  // namespace attune::bench
