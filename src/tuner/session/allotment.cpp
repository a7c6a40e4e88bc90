#include "tuner/session/allotment.h"

#include <algorithm>

#include "base/check.h"

namespace attune::session {
namespace {

// How many rounds without any success are enough.
constexpr int kHopelessRounds = 2;
// What a round may gain although the last ones did not; fades with the number of rounds.
constexpr double kHope = 0.03;
// The weight of the last round among those before it.
constexpr double kFresh = 0.5;

}  // namespace

Allotment::Allotment(const std::vector<TaskWeight>& weights, const AllotmentOptions& options)
    : options_(options) {
  for (const TaskWeight& weight : weights) {
    Standing standing;
    standing.weight = weight;
    standings_.push_back(standing);
  }
}

double Allotment::promise(const Standing& standing) const {
  const double gain = std::max(standing.gain, kHope / (1 + standing.finished));
  // A second round at the same time would be chosen without knowing of the first.
  const int open = standing.granted - standing.finished;
  return standing.weight.uses * standing.best_us * gain / (standing.round_seconds * (1 + 2 * open));
}

std::optional<std::size_t> Allotment::next() const {
  std::optional<std::size_t> best;
  for (std::size_t i = 0; i < standings_.size(); ++i) {
    const Standing& each = standings_[i];
    if (each.granted > 0 || each.ended) continue;
    if (!best || each.weight.prior > standings_[*best].weight.prior) best = i;
  }
  for (const int factor : {1, 2, 4}) {
    if (best) return best;
    double most = 0;
    for (std::size_t i = 0; i < standings_.size(); ++i) {
      const Standing& each = standings_[i];
      const bool patient = each.rounds_without_gain < options_.patience * factor;
      // Before the first round is back nothing can be said.
      if (each.ended || each.best_us <= 0 || !patient || promise(each) <= most) continue;
      most = promise(each);
      best = i;
    }
  }
  return best;
}

void Allotment::grant(std::size_t task) { ++standings_[task].granted; }

void Allotment::finish(std::size_t task, const std::optional<RoundSummary>& summary, bool more) {
  Standing& standing = standings_[task];
  CHECK(standing.finished < standing.granted, "only granted rounds finish");
  ++standing.finished;
  standing.ended = !more;
  if (!summary) return;
  const double seconds = std::max(summary->work_seconds, 1e-6);
  const bool first = standing.round_seconds <= 0;
  standing.round_seconds =
      first ? seconds : kFresh * seconds + (1 - kFresh) * standing.round_seconds;
  if (!summary->best_us) {
    standing.ended = standing.ended || standing.finished >= kHopelessRounds;
    return;
  }
  const double before_us =
      standing.best_us > 0 ? standing.best_us : summary->default_us.value_or(0);
  standing.best_us = *summary->best_us;
  standing.default_us = summary->default_us.value_or(0);
  const double gain = before_us > 0 ? std::max(0.0, 1 - standing.best_us / before_us) : 0;
  standing.gain = first ? gain : kFresh * gain + (1 - kFresh) * standing.gain;
  standing.rounds_without_gain = gain >= options_.least_gain ? 0 : standing.rounds_without_gain + 1;
}

bool Allotment::settled(std::size_t task) const {
  const Standing& standing = standings_[task];
  return standing.ended || standing.rounds_without_gain >= options_.patience;
}

std::size_t Allotment::settled_count() const {
  std::size_t count = 0;
  for (std::size_t i = 0; i < standings_.size(); ++i) count += settled(i) ? 1 : 0;
  return count;
}

std::optional<double> Allotment::seconds_to_settle(std::size_t task) const {
  const Standing& standing = standings_[task];
  if (settled(task)) return 0;
  if (standing.finished == 0) return std::nullopt;
  return (options_.patience - standing.rounds_without_gain) * standing.round_seconds;
}

double Allotment::latency_us() const {
  double sum = 0;
  for (const Standing& each : standings_) sum += each.weight.uses * each.best_us;
  return sum;
}

double Allotment::gained_us() const {
  double sum = 0;
  for (const Standing& each : standings_) {
    if (each.default_us > 0) sum += each.weight.uses * (each.default_us - each.best_us);
  }
  return sum;
}

}  // namespace attune::session
