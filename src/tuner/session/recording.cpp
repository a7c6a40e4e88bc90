#include "tuner/session/recording.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace attune::session {
namespace {

// Traces are one step per line; people read them in one.
std::string in_one_line(std::string trace) {
  while (!trace.empty() && trace.back() == '\n') trace.pop_back();
  for (std::size_t at = 0; (at = trace.find('\n', at)) != std::string::npos;) {
    trace.replace(at, 1, "; ");
  }
  return trace.empty() ? "the program as it is" : trace;
}

// As it was when the search was told of it: a later look may have replaced the record's time.
outcome::Outcome first_look(const records::SessionCandidate& candidate) {
  outcome::Outcome outcome = candidate.record->outcome;
  auto* timing = std::get_if<outcome::Timing>(&outcome);
  if (timing != nullptr && candidate.first_us) timing->best_us = *candidate.first_us;
  return outcome;
}

}  // namespace

class Recording::Builder final : public measure::Builder {
 public:
  explicit Builder(Recording& recording) : recording_(recording) {}

  std::vector<measure::BuiltCandidate> build(
      std::span<const measure::BuildRequest> requests) override {
    std::vector<measure::BuiltCandidate> built;
    for (const measure::BuildRequest& request : requests) {
      measure::BuiltCandidate& candidate = built.emplace_back();
      candidate.number = request.candidate.number;
      const auto* known =
          recording_.find(candidate.number, schedule::to_string(request.candidate.trace));
      if (known == nullptr) {
        candidate.failure = outcome::BuildFailed{outcome::Phase::Build, "not in the recording"};
        continue;
      }
      candidate.build_ms = known->record->stages.build_ms;
      if (const outcome::Outcome& outcome = known->record->outcome;
          outcome::phase_of(outcome) == outcome::Phase::Build) {
        candidate.failure = outcome;
      } else {
        candidate.main = std::make_shared<measure::KernelCode>();
      }
    }
    return built;
  }

  Result<measure::Expectation> expect(const ir::Program&, std::uint64_t seed) override {
    return measure::Expectation{.seed = seed, .elements = {}, .magnitude = 0};
  }

 private:
  Recording& recording_;
};

class Recording::Runner final : public measure::Runner {
 public:
  explicit Runner(const Recording& recording) : recording_(recording) {}

  Result<std::vector<measure::RunResult>> measure(std::span<const measure::RunRequest> requests,
                                                  const measure::Expectation&,
                                                  const measure::RunOptions&) override {
    return results_of(requests, true);
  }
  Result<std::vector<measure::RunResult>> compare(std::span<const measure::RunRequest> requests,
                                                  const measure::Expectation&,
                                                  const measure::RunOptions&) override {
    return results_of(requests, false);
  }
  std::string device() const override { return "recording"; }
  double busy_seconds() const override { return 0; }

 private:
  std::vector<measure::RunResult> results_of(std::span<const measure::RunRequest> requests,
                                             bool first) const {
    std::vector<measure::RunResult> results;
    for (const measure::RunRequest& request : requests) {
      const records::SessionCandidate& known = recording_.at(request.candidate->number);
      results.push_back({.outcome = first ? first_look(known) : known.record->outcome,
                         .noise = known.record->noise,
                         .run_ms = known.record->stages.run_ms,
                         .wait_ms = known.record->stages.wait_ms});
    }
    return results;
  }

  const Recording& recording_;
};

Recording::Recording(records::Session session)
    : session_(std::move(session)),
      builder_(std::make_unique<Builder>(*this)),
      runner_(std::make_unique<Runner>(*this)) {
  for (const records::SessionRound& round : session_.rounds) {
    if (!round.finished) break;
    round_sizes_.push_back(round.asked);
    if (round.asked > 0) continue;
    round_sizes_.back() = std::count_if(
        session_.candidates.begin(), session_.candidates.end(),
        [&](const records::SessionCandidate& each) { return each.round == round.round; });
  }
  std::erase_if(session_.candidates, [&](const records::SessionCandidate& each) {
    return each.round >= static_cast<std::int64_t>(round_sizes_.size());
  });
}
Recording::~Recording() = default;

std::int64_t Recording::candidates() const {
  return static_cast<std::int64_t>(session_.candidates.size());
}

const records::SessionCandidate& Recording::at(std::int64_t number) const {
  return session_.candidates[static_cast<std::size_t>(number)];
}

const records::SessionCandidate* Recording::find(std::int64_t number, const std::string& trace) {
  const bool known = number < candidates();
  if (known && at(number).trace == trace) return &at(number);
  const std::lock_guard lock(mutex_);
  if (!difference_ || number < difference_->first) {
    const std::string then = known ? in_one_line(at(number).trace) : "no candidate";
    difference_ = {number, fmt::format("candidate {} was '{}', and is '{}' now", number, then,
                                       in_one_line(trace))};
  }
  return nullptr;
}

std::optional<std::string> Recording::difference() const {
  const std::lock_guard lock(mutex_);
  return difference_ ? std::optional(difference_->second) : std::nullopt;
}

}  // namespace attune::session
