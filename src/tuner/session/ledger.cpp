#include "tuner/session/ledger.h"

#include <fmt/format.h>

#include <algorithm>

namespace attune::session {

bool is_trial(const outcome::Outcome& outcome) {
  return !std::holds_alternative<outcome::BuildFailed>(outcome) &&
         !std::holds_alternative<outcome::InfrastructureLost>(outcome) &&
         outcome::phase_of(outcome) != outcome::Phase::Build;
}

Result<Ledger> Ledger::of(const records::Session& session) {
  Ledger ledger;
  std::size_t next = 0;
  for (const records::SessionRound& round : session.rounds) {
    std::vector<space::Candidate> candidates;
    std::vector<records::Record> profiled;
    for (; next < session.candidates.size() && session.candidates[next].round == round.round;
         ++next) {
      const records::SessionCandidate& stored = session.candidates[next];
      auto trace = schedule::parse_trace(stored.trace);
      if (!trace.ok()) {
        return Error{ErrorCode::Corrupt,
                     fmt::format("candidate {} of session {} has a trace that does not parse: {}",
                                 stored.number, session.id, trace.error().message),
                     "start a new session without --resume"};
      }
      candidates.push_back({.trace = std::move(*trace),
                            .trace_hash = stored.trace_hash,
                            .predicted_us = stored.predicted_us,
                            .number = stored.number});
      if (stored.record) profiled.push_back(*stored.record);
    }
    ledger.add_round(std::move(candidates));
    for (records::Record& record : profiled) {
      const std::int64_t number = record.number;
      ledger.settle(number, std::move(record));
    }
    if (round.finished) ledger.finish_round();
  }
  return ledger;
}

void Ledger::add_round(std::vector<space::Candidate> candidates) {
  rounds_.push_back({.first = size(), .count = static_cast<std::int64_t>(candidates.size())});
  for (space::Candidate& candidate : candidates) {
    const std::int64_t number = candidate.number;
    CHECK(number == size(), "candidates are numbered in order");
    hashes_.insert(candidate.trace_hash);
    marks_.push_back({.predicted_us = static_cast<float>(candidate.predicted_us)});
    kept_.emplace(number, std::move(candidate));
  }
}

const records::Record* Ledger::record(std::int64_t number) const {
  const auto found = records_.find(number);
  return found == records_.end() ? nullptr : &found->second;
}

void Ledger::count(const records::Record& record, std::int64_t by) {
  trials_ += is_trial(record.outcome) ? by : 0;
  if (std::holds_alternative<outcome::Timing>(record.outcome)) {
    timed_ += by;
    return;
  }
  const auto kind = failures_.try_emplace(std::string(outcome::kind_of(record.outcome)), 0).first;
  if (examples_.count(kind->first) == 0) examples_[kind->first] = record;
  kind->second += by;
  if (kind->second == 0) failures_.erase(kind);
}

void Ledger::settle(std::int64_t number, records::Record record) {
  CHECK(kept_.contains(number), "only candidates that are kept whole are looked at");
  if (const records::Record* before = this->record(number)) count(*before, -1);
  count(record, 1);
  const auto* timing = std::get_if<outcome::Timing>(&record.outcome);
  Mark& mark = marks_[static_cast<std::size_t>(number)];
  mark.time_us = timing == nullptr ? 0 : timing->best_us;
  mark.profiled = true;
  mark.trial = is_trial(record.outcome);
  records_.insert_or_assign(number, std::move(record));
}

void Ledger::finish_round() {
  CHECK(finished_ < selected_rounds() && is_profiled(finished_),
        "a round is finished when all of it is profiled");
  for (const std::int64_t number : numbers_of(finished_)) {
    const Mark& mark = marks_[static_cast<std::size_t>(number)];
    finished_trials_ += mark.trial ? 1 : 0;
    if (mark.time_us <= 0) continue;
    finished_best_us_ = std::min(finished_best_us_.value_or(mark.time_us), mark.time_us);
  }
  ++finished_;
  forget_slow();
}

void Ledger::forget_slow() {
  const std::vector<std::int64_t> fast = fastest(kKept);
  const std::unordered_set<std::int64_t> keep(fast.begin(), fast.end());
  // The last round stays too: its times of building and running are still asked for.
  const std::int64_t last = rounds_[static_cast<std::size_t>(finished_ - 1)].first;
  const auto is_slow = [&](const auto& item) {
    return item.first != 0 && item.first < last && keep.count(item.first) == 0;
  };
  std::erase_if(kept_, is_slow);
  std::erase_if(records_, is_slow);
}

std::vector<records::Record> Ledger::failure_examples() const {
  std::vector<records::Record> examples;
  for (const auto& [kind, count] : failures_) examples.push_back(examples_.at(kind));
  return examples;
}

bool Ledger::is_profiled(std::int64_t round) const {
  const Round& found = rounds_[static_cast<std::size_t>(round)];
  const auto first = marks_.begin() + static_cast<std::ptrdiff_t>(found.first);
  return std::all_of(first, first + static_cast<std::ptrdiff_t>(found.count),
                     [](const Mark& mark) { return mark.profiled; });
}

std::vector<std::int64_t> Ledger::numbers_of(std::int64_t round) const {
  const Round& found = rounds_[static_cast<std::size_t>(round)];
  std::vector<std::int64_t> numbers;
  for (std::int64_t i = 0; i < found.count; ++i) numbers.push_back(found.first + i);
  return numbers;
}

std::optional<double> Ledger::time_us(std::int64_t number) const {
  const double time_us = marks_[static_cast<std::size_t>(number)].time_us;
  return time_us > 0 ? std::optional(time_us) : std::nullopt;
}

double Ledger::predicted_us(std::int64_t number) const {
  return static_cast<double>(marks_[static_cast<std::size_t>(number)].predicted_us);
}

std::int64_t Ledger::open_candidates() const {
  if (finished_ == selected_rounds()) return 0;
  return size() - rounds_[static_cast<std::size_t>(finished_)].first;
}

std::vector<std::int64_t> Ledger::fastest(std::size_t count) const {
  CHECK(count <= kKept, "only so many of the fastest are kept");
  std::vector<std::int64_t> numbers;
  for (const auto& [number, candidate] : kept_) {
    if (time_us(number)) numbers.push_back(number);
  }
  std::stable_sort(numbers.begin(), numbers.end(),
                   [&](std::int64_t a, std::int64_t b) { return *time_us(a) < *time_us(b); });
  if (numbers.size() > count) numbers.resize(count);
  return numbers;
}

}  // namespace attune::session
