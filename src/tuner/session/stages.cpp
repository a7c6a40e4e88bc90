// The stages of a round: select, build, profile, update.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "tuner/session/impl.h"

namespace attune::session {

Status Session::Impl::init() {
  auto expectation = context_.builder.expect(task_.reference(), seed_);
  if (!expectation.ok()) return expectation.error();
  const std::lock_guard lock(mutex_);
  expectation_ = std::move(*expectation);
  initialised_ = true;
  return {};
}

std::vector<space::Candidate> Session::Impl::gather(std::vector<schedule::Trace> first,
                                                    std::size_t count) {
  std::vector<space::Candidate> candidates;
  const auto take = [&](space::Candidate candidate) {
    const auto is_same = [&](const space::Candidate& other) {
      return other.trace_hash == candidate.trace_hash;
    };
    if (candidates.size() == count || ledger_.knows(candidate.trace_hash) ||
        std::any_of(candidates.begin(), candidates.end(), is_same)) {
      return;
    }
    candidate.number = ledger_.size() + std::ssize(candidates);
    candidates.push_back(std::move(candidate));
  };
  for (schedule::Trace& trace : first) {
    const std::uint64_t hash = schedule::hash(trace);
    take({.trace = std::move(trace), .trace_hash = hash});
  }
  while (candidates.size() < count) {
    std::vector<space::Candidate> proposals = search_->select(count - candidates.size());
    if (proposals.empty()) break;
    for (space::Candidate& proposal : proposals) take(std::move(proposal));
  }
  return candidates;
}

Status Session::Impl::select(std::int64_t round) {
  std::vector<schedule::Trace> first;
  if (round == 0) {
    ATTUNE_ASSIGN(first, first_traces());
  }
  std::size_t count = 0;
  {
    const std::lock_guard lock(mutex_);
    if (out_of_time() && round > 0) {
      selecting_ended_ = true;
      return {};
    }
    // A small first round gives the device something to do soon. All that is known to be good is in
    // it, as far as the budget goes.
    const std::int64_t batch =
        round == 0 ? std::max<std::int64_t>((options_.batch + 2) / 3, std::ssize(first))
                   : options_.batch;
    const bool repeated = !options_.round_sizes.empty();
    count = static_cast<std::size_t>(repeated ? allowance() : std::min(batch, allowance()));
  }
  // Nobody else adds candidates, so their number and hashes may be read without the mutex.
  std::vector<space::Candidate> candidates = gather(std::move(first), count);
  RejectionCounts rejected = search_->rejections();
  if (candidates.empty()) {
    const std::lock_guard lock(mutex_);
    rejected_ = std::move(rejected);
    selecting_ended_ = exhausted_ = true;
    return {};
  }
  std::vector<records::SessionCandidate> rows;
  for (const space::Candidate& candidate : candidates) {
    rows.push_back({.number = candidate.number,
                    .trace = schedule::to_string(candidate.trace),
                    .trace_hash = candidate.trace_hash,
                    .predicted_us = candidate.predicted_us,
                    .round = round});
  }
  ATTUNE_RETURN_IF_ERROR(context_.store.append_selected(id_, round, rows, search_->changes(),
                                                        static_cast<std::int64_t>(count)));
  const std::lock_guard lock(mutex_);
  rejected_ = std::move(rejected);
  ledger_.add_round(std::move(candidates));
  return {};
}

std::vector<measure::BuildRequest> Session::Impl::build_requests(
    const std::vector<std::int64_t>& numbers) const {
  std::vector<measure::BuildRequest> requests;
  for (const std::int64_t number : numbers) {
    measure::BuildRequest request;
    request.candidate = ledger_.candidate(number);
    const auto algorithm = algorithm_of(task_, request.candidate.trace);
    request.program = algorithm.ok() ? (*algorithm)->program : task_.algorithms.front().program;
    request.whatever_it_costs = number == 0;  // the default runs in any case
    request.timeout_ms = options_.build_timeout_ms;
    requests.push_back(std::move(request));
  }
  return requests;
}

Status Session::Impl::build(std::int64_t round) {
  std::vector<std::int64_t> numbers;
  std::vector<measure::BuildRequest> requests;
  {
    const std::lock_guard lock(mutex_);
    for (const std::int64_t number : ledger_.numbers_of(round)) {
      if (ledger_.record(number) == nullptr) numbers.push_back(number);
    }
    requests = build_requests(numbers);
  }
  std::vector<measure::BuiltCandidate> built = context_.builder.build(requests);
  CHECK(built.size() == requests.size(), "one result per build request");
  ATTUNE_RETURN_IF_ERROR(context_.store.mark_built(id_, numbers));
  const std::lock_guard lock(mutex_);
  for (measure::BuiltCandidate& candidate : built) {
    const std::int64_t number = candidate.number;
    built_[number] = std::move(candidate);
  }
  return {};
}

double Session::Impl::tolerance_of(const space::Candidate& candidate) const {
  const auto algorithm = algorithm_of(task_, candidate.trace);
  const double relative =
      algorithm.ok() ? (*algorithm)->tolerance : task_.algorithms.front().tolerance;
  return relative * expectation_.magnitude;
}

records::Record Session::Impl::record_of(const space::Candidate& candidate,
                                         outcome::Outcome outcome) const {
  records::Record record;
  record.task_key = task_.key;
  record.task_name = task_.name;
  record.target = target_;
  record.trace = schedule::to_string(candidate.trace);
  record.trace_hash = candidate.trace_hash;
  record.weights = options_.weights;
  record.product_version = options_.version;
  record.device = context_.runner.device();
  record.seed = seed_;
  record.session = id_;
  record.number = candidate.number;
  const auto* timing = std::get_if<outcome::Timing>(&outcome);
  record.verified = timing != nullptr && timing->verified;
  record.outcome = std::move(outcome);
  record.created_at_ms = unix_time_ms();
  return record;
}

Result<std::vector<measure::RunResult>> Session::Impl::run_with_retry(
    const std::vector<measure::RunRequest>& requests, const measure::RunOptions& how) {
  ATTUNE_ASSIGN(std::vector<measure::RunResult> results,
                context_.runner.measure(requests, expectation_, how));
  CHECK(results.size() == requests.size(), "one result per run request");
  std::vector<std::size_t> lost;
  std::vector<measure::RunRequest> again;
  for (std::size_t i = 0; i < results.size(); ++i) {
    if (!is_lost(results[i].outcome)) continue;
    lost.push_back(i);
    again.push_back(requests[i]);
  }
  if (!lost.empty()) {
    ATTUNE_ASSIGN(std::vector<measure::RunResult> second,
                  context_.runner.measure(again, expectation_, how));
    for (std::size_t i = 0; i < lost.size(); ++i) results[lost[i]] = std::move(second[i]);
  }
  ATTUNE_RETURN_IF_ERROR(count_losses(results));
  return results;
}

// One that is lost twice goes on record as such; when all are, many in a row, the device is gone.
Status Session::Impl::count_losses(const std::vector<measure::RunResult>& results) {
  constexpr std::int64_t kMostLost = 3;
  const std::lock_guard lock(mutex_);
  bool all = true;
  for (const measure::RunResult& result : results) {
    all = all && is_lost(result.outcome);
    lost_in_a_row_ = is_lost(result.outcome) ? lost_in_a_row_ + 1 : 0;
  }
  if (!all || lost_in_a_row_ < kMostLost) return {};
  return Error{ErrorCode::Io,
               fmt::format("the last {} candidates were lost: {}", lost_in_a_row_,
                           outcome::describe(results.back().outcome)),
               "the candidates are not to blame: run the same command again with --resume"};
}

// Which of them are to be measured anew.
std::vector<bool> Session::Impl::find_disturbed(std::int64_t round, double best_us,
                                                const std::vector<measure::RunResult>& results) {
  std::vector<bool> disturbed(results.size(), false);
  const std::lock_guard lock(mutex_);
  disturbed_.erase(round);
  if (repeats_[round] >= most_repeats_) return disturbed;
  for (const measure::RunResult& result : results) {
    const auto time_us = observed_time(result.outcome);
    if (time_us && (best_us <= 0 || *time_us < best_us)) best_us = *time_us;
  }
  for (std::size_t i = 0; i < results.size(); ++i) {
    const auto* timing = std::get_if<outcome::Timing>(&results[i].outcome);
    if (timing == nullptr || !timing->noisy) continue;
    disturbed[i] = timing->best_us <= options_.run.close_ratio * best_us;  // else out of the race
    if (disturbed[i]) disturbed_.insert(round);
  }
  if (disturbed_.count(round) != 0) ++repeats_[round];
  return disturbed;
}

Status Session::Impl::profile(std::int64_t round) {
  struct Job {
    space::Candidate candidate;
    measure::BuiltCandidate built;
  };
  std::vector<Job> jobs;  // copies: other stages go on meanwhile
  measure::RunOptions how = options_.run;
  {
    const std::lock_guard lock(mutex_);
    for (const std::int64_t number : ledger_.numbers_of(round)) {
      if (ledger_.record(number) != nullptr) continue;
      jobs.push_back({ledger_.candidate(number), built_.at(number)});
    }
    if (const auto best = best_number()) how.best_known_us = *ledger_.time_us(*best);
    how.budget_us *= stretch_;
  }
  std::vector<measure::RunRequest> requests;
  for (const Job& job : jobs) {
    if (!job.built.failure) requests.push_back({&job.built, tolerance_of(job.candidate)});
  }
  std::vector<measure::RunResult> results;
  if (!requests.empty()) {
    auto measured = run_with_retry(requests, how);
    if (!measured.ok()) return measured.error();
    results = std::move(*measured);
  }
  const std::vector<bool> disturbed = find_disturbed(round, how.best_known_us, results);
  std::vector<records::Record> found;
  std::size_t next = 0;
  for (const Job& job : jobs) {
    if (job.built.failure) {
      found.push_back(record_of(job.candidate, *job.built.failure));
    } else {
      const std::size_t place = next++;
      if (disturbed[place]) continue;
      measure::RunResult& result = results[place];
      found.push_back(record_of(job.candidate, std::move(result.outcome)));
      found.back().noise = result.noise;
      found.back().stages.run_ms = result.run_ms;
      found.back().stages.wait_ms = result.wait_ms;
    }
    found.back().stages.build_ms = job.built.build_ms;
  }
  return store_profiled(std::move(found));
}

Status Session::Impl::store_profiled(std::vector<records::Record> found) {
  auto ids = context_.store.mark_profiled(id_, found);
  if (!ids.ok()) return ids.error();
  const std::lock_guard lock(mutex_);
  for (std::size_t i = 0; i < found.size(); ++i) {
    found[i].id = (*ids)[i];
    note_failure(found[i]);
    const std::int64_t number = found[i].number;
    ledger_.settle(number, std::move(found[i]));
  }
  forget_slow_builds();
  return {};
}

void Session::Impl::note_failure(const records::Record& record) {
  constexpr std::size_t kMost = 1000;
  if (std::holds_alternative<outcome::Timing>(record.outcome)) return;
  if (failed_.size() == kMost) failed_.erase(failed_.begin());
  failed_.push_back(record);
}

void Session::Impl::forget_slow_builds() {
  const std::vector<std::int64_t> keep = finalists();
  std::erase_if(built_, [&](const auto& item) {
    return ledger_.record(item.first) != nullptr &&
           std::find(keep.begin(), keep.end(), item.first) == keep.end();
  });
}

Status Session::Impl::update(std::int64_t round) {
  std::vector<space::Candidate> tried;  // copies: other stages go on meanwhile
  {
    const std::lock_guard lock(mutex_);
    for (const std::int64_t number : ledger_.numbers_of(round)) {
      const outcome::Outcome& outcome = ledger_.record(number)->outcome;
      if (is_lost(outcome)) continue;  // never training data
      tried.push_back(ledger_.candidate(number));
      tried.back().time_us = observed_time(outcome);
    }
  }
  search_->update(tried);
  ATTUNE_RETURN_IF_ERROR(context_.store.finish_round(id_, round, search_->changes()));
  const std::lock_guard lock(mutex_);
  ledger_.finish_round();
  repeats_.erase(round);
  last_summary_ = summary_of(round);
  return {};
}

RoundSummary Session::Impl::summary_of(std::int64_t round) const {
  RoundSummary summary{.round = round,
                       .trials = ledger_.finished_trials(),
                       .best_us = ledger_.finished_best_us(),
                       .default_us = ledger_.time_us(0)};
  for (const std::int64_t number : ledger_.numbers_of(round)) {
    const records::StageTimes& stages = ledger_.record(number)->stages;
    summary.work_seconds += (stages.build_ms + stages.run_ms) * 1e-3;
  }
  return summary;
}

}  // namespace attune::session
