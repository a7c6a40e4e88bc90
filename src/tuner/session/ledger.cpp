#include "tuner/session/ledger.h"

#include <fmt/format.h>

#include <algorithm>

namespace attune::session {

bool is_trial(const outcome::Outcome& outcome) {
  return !std::holds_alternative<outcome::BuildFailed>(outcome) &&
         !std::holds_alternative<outcome::InfrastructureLost>(outcome) &&
         outcome::phase_of(outcome) != outcome::Phase::Build;
}

std::optional<double> time_of(const Entry& entry) {
  if (!entry.record) return std::nullopt;
  const auto* timing = std::get_if<outcome::Timing>(&entry.record->outcome);
  return timing == nullptr ? std::nullopt : std::optional(timing->best_us);
}

FailedCandidate failed_candidate(const records::Record& record) {
  return {.number = record.number,
          .kind = std::string(outcome::kind_of(record.outcome)),
          .reason = outcome::describe(record.outcome),
          .trace = record.trace};
}

Result<Ledger> Ledger::of(const records::Session& session) {
  Ledger ledger;
  std::size_t next = 0;
  for (const records::SessionRound& round : session.rounds) {
    std::vector<Entry> entries;
    for (; next < session.candidates.size() && session.candidates[next].round == round.round;
         ++next) {
      const records::SessionCandidate& stored = session.candidates[next];
      auto trace = schedule::parse_trace(stored.candidate.trace);
      if (!trace.ok()) {
        return Error{ErrorCode::Corrupt,
                     fmt::format("candidate {} of session {} has a trace that does not parse: {}",
                                 stored.candidate.number, session.id, trace.error().message),
                     "start a new session without --resume"};
      }
      entries.push_back({.candidate = stored.candidate,
                         .trace = std::move(*trace),
                         .round = round.round,
                         .record = stored.record});
    }
    ledger.add_round(std::move(entries));
    if (round.finished) ledger.finish_round();
  }
  return ledger;
}

void Ledger::add_round(std::vector<Entry> entries) {
  rounds_.push_back({.first = size(), .count = static_cast<std::int64_t>(entries.size())});
  for (Entry& entry : entries) {
    const std::int64_t number = entry.candidate.number;
    CHECK(number == size(), "candidates are numbered in order");
    hashes_.insert(entry.candidate.trace_hash);
    marks_.push_back({.predicted_us = static_cast<float>(entry.candidate.predicted_us)});
    std::optional<records::Record> record = std::move(entry.record);
    entry.record.reset();
    kept_.emplace(number, std::move(entry));
    if (record) settle(number, std::move(*record));
  }
}

void Ledger::count(const records::Record& record, std::int64_t by) {
  trials_ += is_trial(record.outcome) ? by : 0;
  if (std::holds_alternative<outcome::Timing>(record.outcome)) {
    timed_ += by;
    return;
  }
  const auto kind = failures_.try_emplace(std::string(outcome::kind_of(record.outcome)), 0).first;
  if (examples_.count(kind->first) == 0) examples_[kind->first] = failed_candidate(record);
  kind->second += by;
  if (kind->second == 0) failures_.erase(kind);
}

void Ledger::settle(std::int64_t number, records::Record record) {
  Entry& entry = kept_.at(number);
  if (entry.record) count(*entry.record, -1);
  count(record, 1);
  entry.record = std::move(record);
  Mark& mark = marks_[static_cast<std::size_t>(number)];
  mark.time_us = time_of(entry).value_or(0);
  mark.profiled = true;
  mark.trial = is_trial(entry.record->outcome);
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
  std::erase_if(kept_, [&](const auto& item) {
    const auto& [number, entry] = item;
    // The last round stays too: its times of building and running are still asked for.
    return number != 0 && entry.round + 1 < finished_ && keep.count(number) == 0;
  });
}

std::vector<FailedCandidate> Ledger::failure_examples() const {
  std::vector<FailedCandidate> examples;
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

const Entry& Ledger::at(std::int64_t number) const { return kept_.at(number); }

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
  for (const auto& [number, entry] : kept_) {
    if (time_us(number)) numbers.push_back(number);
  }
  std::stable_sort(numbers.begin(), numbers.end(),
                   [&](std::int64_t a, std::int64_t b) { return *time_us(a) < *time_us(b); });
  if (numbers.size() > count) numbers.resize(count);
  return numbers;
}

}  // namespace attune::session
