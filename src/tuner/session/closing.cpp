// The end of a session: the fastest candidates and the default are compared once more, in turns,
// and the winner is named from that.
#include <algorithm>
#include <utility>

#include "tuner/session/impl.h"

namespace attune::session {
namespace {

constexpr double kInReach = 1.15;

}  // namespace

std::vector<std::int64_t> Session::Impl::finalists() const {
  std::vector<std::int64_t> numbers =
      ledger_.fastest(static_cast<std::size_t>(std::max(options_.finalists, 1)));
  // Far behind the best in one look is behind it in all.
  const double reach_us = numbers.empty() ? 0 : kInReach * *ledger_.time_us(numbers.front());
  std::erase_if(numbers, [&](std::int64_t number) { return *ledger_.time_us(number) > reach_us; });
  const bool default_ran = ledger_.size() > 0 && ledger_.time_us(0).has_value();
  if (default_ran && std::find(numbers.begin(), numbers.end(), 0) == numbers.end()) {
    numbers.push_back(0);
  }
  return numbers;
}

// Those of another process: what this one built it still has.
std::vector<std::int64_t> Session::Impl::finalists_to_build() const {
  std::vector<std::int64_t> missing = finalists();
  std::erase_if(missing, [&](std::int64_t number) { return built_.count(number) != 0; });
  return missing;
}

Status Session::Impl::build_finalists() {
  std::vector<measure::BuildRequest> requests;
  {
    const std::lock_guard lock(mutex_);
    requests = build_requests(finalists_to_build());
  }
  std::vector<measure::BuiltCandidate> built = context_.builder.build(requests);
  const std::lock_guard lock(mutex_);
  for (measure::BuiltCandidate& candidate : built) {
    const std::int64_t number = candidate.number;
    built_[number] = std::move(candidate);
  }
  return {};
}

Status Session::Impl::confirm() {
  std::vector<records::Record> finalists;
  std::vector<measure::BuiltCandidate> built;
  std::vector<double> tolerances;
  {
    const std::lock_guard lock(mutex_);
    for (const std::int64_t number : this->finalists()) {
      const measure::BuiltCandidate& candidate = built_.at(number);
      if (candidate.failure) continue;  // it was built once, but not by this version
      finalists.push_back(*ledger_.record(number));
      built.push_back(candidate);
      tolerances.push_back(tolerance_of(ledger_.candidate(number)));
    }
  }
  std::vector<measure::RunRequest> requests;
  for (std::size_t i = 0; i < built.size(); ++i) {
    requests.push_back({&built[i], tolerances[i]});
  }
  if (!requests.empty()) {
    measure::RunOptions how = options_.run;
    how.best_known_us = *observed_time(finalists.front().outcome);
    auto results = context_.runner.compare(requests, expectation_, how);
    if (!results.ok()) return results.error();
    ATTUNE_RETURN_IF_ERROR(store_comparison(std::move(finalists), std::move(*results)));
  }
  ATTUNE_RETURN_IF_ERROR(context_.store.finish_session(id_));
  const std::lock_guard lock(mutex_);
  finished_ = true;
  return {};
}

Status Session::Impl::store_comparison(std::vector<records::Record> finalists,
                                       std::vector<measure::RunResult> results) {
  std::vector<records::Confirmation> confirmations;
  const std::lock_guard lock(mutex_);
  std::optional<double> winner_us;
  compared_us_.clear();  // times of one comparison compare with each other alone
  for (std::size_t i = 0; i < finalists.size(); ++i) {
    if (std::holds_alternative<outcome::InfrastructureLost>(results[i].outcome)) continue;
    records::Record& record = finalists[i];
    const auto* timing = std::get_if<outcome::Timing>(&results[i].outcome);
    if (timing != nullptr) {
      compared_us_[record.number] = timing->best_us;
      winner_us = std::min(winner_us.value_or(timing->best_us), timing->best_us);
    }
    record.verified = timing != nullptr && timing->verified;
    record.outcome = std::move(results[i].outcome);
    record.noise = results[i].noise;
    confirmations.push_back({record.id, record.outcome, record.noise, record.verified});
    const std::int64_t number = record.number;
    ledger_.settle(number, std::move(record));
  }
  if (winner_us) ATTUNE_RETURN_IF_ERROR(withdraw_lucky(*winner_us, confirmations));
  return context_.store.confirm(confirmations);
}

// A single quick look below the winner's time was a lucky one, or it would be a finalist's: it
// stays on record, but must not be taken for the best.
Status Session::Impl::withdraw_lucky(double winner_us,
                                     std::vector<records::Confirmation>& confirmations) const {
  const auto is_lucky = [&](std::int64_t number) {
    const auto time_us = ledger_.time_us(number);
    return time_us && *time_us < winner_us && compared_us_.count(number) == 0;
  };
  bool any = false;
  for (std::int64_t number = 0; number < ledger_.size() && !any; ++number) any = is_lucky(number);
  if (!any) return {};
  return context_.store.visit({.session = id_}, [&](const records::Record& record) {
    if (record.number < ledger_.size() && is_lucky(record.number)) {
      confirmations.push_back({record.id, record.outcome, record.noise, false});
    }
    return Status();
  });
}

std::optional<std::int64_t> Session::Impl::winner() const {
  if (compared_us_.empty()) return best_number();
  const auto fastest =
      std::min_element(compared_us_.begin(), compared_us_.end(),
                       [](const auto& a, const auto& b) { return a.second < b.second; });
  return fastest->first;
}

TaskReport Session::Impl::report() const {
  const std::lock_guard lock(mutex_);
  TaskReport report;
  report.key = task_.key;
  report.name = task_.name;
  report.trials = ledger_.trials();
  report.trials_this_run = report.trials - trials_before_;
  report.failures = ledger_.failures();
  report.examples = ledger_.failure_examples();
  report.timed = ledger_.timed();
  for (const auto& [kind, count] : report.failures) report.failed += count;
  report.seconds = options_.on_grant ? worked_seconds_ : elapsed_seconds();
  report.rejected = rejected_;
  report.exhausted = exhausted_;
  report.resumed = resumed_;
  report.seed = seed_;
  report.session = id_;
  report.best_trace = schedule::to_string(default_trace_);
  report.best_is_default = true;
  if (ledger_.size() == 0) return report;
  const records::Record* first = ledger_.record(0);
  report.default_us = ledger_.time_us(0);
  if (first != nullptr && !report.default_us) {
    report.default_failure = outcome::describe(first->outcome);
  }
  if (const auto number = winner()) {
    const records::Record& best = *ledger_.record(*number);
    report.best_us = ledger_.time_us(*number);
    report.best_trace = best.trace;
    report.best_is_default = *number == 0;
    report.best_record = best.id;
    report.gflops = task_.flops / *report.best_us * 1e-3;
  }
  return report;
}

std::optional<double> Session::Impl::model_quality() const {
  constexpr std::int64_t kLast = 48;
  constexpr std::int64_t kFewestPairs = 20;
  std::vector<std::pair<double, double>> seen;  // predicted and measured
  for (std::int64_t number = std::max<std::int64_t>(0, ledger_.size() - kLast);
       number < ledger_.size(); ++number) {
    const auto time_us = ledger_.time_us(number);
    const double predicted_us = ledger_.predicted_us(number);
    if (time_us && predicted_us > 0) seen.emplace_back(predicted_us, *time_us);
  }
  std::int64_t pairs = 0, right = 0;
  for (std::size_t i = 0; i < seen.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      ++pairs;
      right += (seen[i].first < seen[j].first) == (seen[i].second < seen[j].second) ? 1 : 0;
    }
  }
  if (pairs < kFewestPairs) return std::nullopt;
  return static_cast<double>(right) / static_cast<double>(pairs);
}

Progress Session::Impl::progress() const {
  const std::lock_guard lock(mutex_);
  Progress progress;
  progress.key = task_.key;
  progress.task = task_.name;
  progress.stage = last_stage_;
  progress.round = last_round_;
  progress.trials = ledger_.trials();
  progress.trials_total = options_.trials;
  progress.failures = ledger_.failures();
  progress.elapsed_seconds = elapsed_seconds();
  if (const auto number = finished_ ? winner() : best_number()) {
    progress.best_us = ledger_.time_us(*number);
    progress.best_gflops = task_.flops / *progress.best_us * 1e-3;
  }
  if (ledger_.size() > 0) progress.default_us = ledger_.time_us(0);
  progress.model_quality = model_quality();
  const std::int64_t done = progress.trials - trials_before_;
  if (finished_) {
    progress.eta_seconds = 0;
  } else if (done > 0) {
    const double left =
        static_cast<double>(std::max<std::int64_t>(0, progress.trials_total - progress.trials));
    progress.eta_seconds = left * progress.elapsed_seconds / static_cast<double>(done);
    if (options_.seconds > 0) {
      const double time_left = std::max(0.0, options_.seconds - progress.elapsed_seconds);
      progress.eta_seconds = std::min(*progress.eta_seconds, time_left);
    }
  }
  return progress;
}

}  // namespace attune::session
