// What a session knows: its candidates, round by round, and what became of them. The same after
// loading it from the store as when it was written there. Candidates of open rounds, the fastest
// and the default are kept whole; of all others a few numbers, so that memory stays small over a
// hundred thousand.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <unordered_set>
#include <vector>

#include "base/result.h"
#include "tuner/records/record.h"
#include "tuner/session/report.h"
#include "tuner/space/candidate.h"

namespace attune::session {

// Whether the outcome came from the device: such a candidate is a trial.
bool is_trial(const outcome::Outcome& outcome);
class Ledger {
 public:
  // Fails when a stored trace does not parse.
  static Result<Ledger> of(const records::Session& session);

  // Opens the next round.
  void add_round(std::vector<space::Candidate> candidates);
  // Once per candidate, and again for those that are kept when they were looked at once more.
  void settle(std::int64_t number, records::Record record);
  void finish_round();  // the oldest that is open

  std::int64_t selected_rounds() const { return static_cast<std::int64_t>(rounds_.size()); }
  std::int64_t finished_rounds() const { return finished_; }
  bool is_profiled(std::int64_t round) const;
  // Numbers of a round's candidates, ascending.
  std::vector<std::int64_t> numbers_of(std::int64_t round) const;

  // Of candidates that are kept whole. There is no record before one is profiled.
  const space::Candidate& candidate(std::int64_t number) const { return kept_.at(number); }
  const records::Record* record(std::int64_t number) const;
  // Of all. There is a time when the answers were right.
  std::optional<double> time_us(std::int64_t number) const;
  double predicted_us(std::int64_t number) const;
  std::int64_t size() const { return static_cast<std::int64_t>(marks_.size()); }
  bool knows(std::uint64_t trace_hash) const { return hashes_.count(trace_hash) != 0; }

  std::int64_t trials() const { return trials_; }
  // Of finished rounds alone: what selection may depend on.
  std::int64_t finished_trials() const { return finished_trials_; }
  std::optional<double> finished_best_us() const { return finished_best_us_; }
  std::int64_t open_candidates() const;  // of rounds that are not finished
  const FailureCounts& failures() const { return failures_; }
  std::vector<records::Record> failure_examples() const;  // the first of each kind
  std::int64_t timed() const { return timed_; }  // candidates that ran and gave right answers
  // The fastest first; at most `count`, which must not exceed kKept.
  std::vector<std::int64_t> fastest(std::size_t count) const;

  // So many of the fastest are kept whole.
  static constexpr std::size_t kKept = 32;

 private:
  struct Round {
    std::int64_t first = 0;
    std::int64_t count = 0;
  };
  // What is remembered of every candidate.
  struct Mark {
    double time_us = 0;  // 0: none
    float predicted_us = 0;
    bool profiled = false;
    bool trial = false;
  };
  void count(const records::Record& record, std::int64_t by);
  void forget_slow();

  std::vector<Mark> marks_;                          // by number
  std::map<std::int64_t, space::Candidate> kept_;    // by number
  std::map<std::int64_t, records::Record> records_;  // of those, by number
  std::vector<Round> rounds_;
  std::int64_t finished_ = 0;
  std::unordered_set<std::uint64_t> hashes_;
  std::int64_t trials_ = 0, timed_ = 0, finished_trials_ = 0;
  std::optional<double> finished_best_us_;
  FailureCounts failures_;
  std::map<std::string, records::Record, std::less<>> examples_;  // by kind
};

}  // namespace attune::session
