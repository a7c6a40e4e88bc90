#include "tuner/session/ledger.h"

#include <fmt/format.h>

#include <algorithm>

namespace attune::session {

bool is_trial(const runtime::Outcome& outcome) {
  return !std::holds_alternative<runtime::BuildFailed>(outcome) &&
         !std::holds_alternative<runtime::InfrastructureLost>(outcome);
}

std::optional<double> time_of(const Entry& entry) {
  if (!entry.record) return std::nullopt;
  const auto* timing = std::get_if<runtime::Timing>(&entry.record->outcome);
  return timing == nullptr ? std::nullopt : std::optional(timing->best_us);
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
    CHECK(entry.candidate.number == size(), "candidates are numbered in order");
    hashes_.insert(entry.candidate.trace_hash);
    entries_.push_back(std::move(entry));
  }
}

void Ledger::settle(std::int64_t number, records::Record record) {
  entries_[static_cast<std::size_t>(number)].record = std::move(record);
}

void Ledger::finish_round() {
  CHECK(finished_ < selected_rounds() && is_profiled(finished_),
        "a round is finished when all of it is profiled");
  ++finished_;
}

bool Ledger::is_profiled(std::int64_t round) const {
  const std::vector<std::int64_t> numbers = numbers_of(round);
  return std::all_of(numbers.begin(), numbers.end(),
                     [&](std::int64_t number) { return at(number).record.has_value(); });
}

std::vector<std::int64_t> Ledger::numbers_of(std::int64_t round) const {
  const Round& found = rounds_[static_cast<std::size_t>(round)];
  std::vector<std::int64_t> numbers;
  for (std::int64_t i = 0; i < found.count; ++i) numbers.push_back(found.first + i);
  return numbers;
}

const Entry& Ledger::at(std::int64_t number) const {
  return entries_[static_cast<std::size_t>(number)];
}

std::int64_t Ledger::trials() const {
  return std::count_if(entries_.begin(), entries_.end(), [](const Entry& entry) {
    return entry.record && is_trial(entry.record->outcome);
  });
}

std::int64_t Ledger::finished_trials() const {
  return std::count_if(entries_.begin(), entries_.end(), [&](const Entry& entry) {
    return entry.round < finished_ && entry.record && is_trial(entry.record->outcome);
  });
}

std::optional<double> Ledger::finished_best_us() const {
  std::optional<double> best_us;
  for (const Entry& entry : entries_) {
    const auto time_us = time_of(entry);
    if (entry.round >= finished_ || !time_us) continue;
    best_us = std::min(best_us.value_or(*time_us), *time_us);
  }
  return best_us;
}

std::int64_t Ledger::open_candidates() const {
  return std::count_if(entries_.begin(), entries_.end(),
                       [&](const Entry& entry) { return entry.round >= finished_; });
}

std::int64_t Ledger::timed() const {
  return std::count_if(entries_.begin(), entries_.end(),
                       [](const Entry& entry) { return time_of(entry).has_value(); });
}

FailureCounts Ledger::failures() const {
  FailureCounts counts;
  for (const Entry& entry : entries_) {
    if (!entry.record || std::holds_alternative<runtime::Timing>(entry.record->outcome)) continue;
    ++counts[std::string(runtime::kind_of(entry.record->outcome))];
  }
  return counts;
}

std::vector<std::int64_t> Ledger::fastest(std::size_t count) const {
  std::vector<std::int64_t> numbers;
  for (const Entry& entry : entries_) {
    if (time_of(entry)) numbers.push_back(entry.candidate.number);
  }
  std::stable_sort(numbers.begin(), numbers.end(), [&](std::int64_t a, std::int64_t b) {
    return *time_of(at(a)) < *time_of(at(b));
  });
  if (numbers.size() > count) numbers.resize(count);
  return numbers;
}

}  // namespace attune::session
