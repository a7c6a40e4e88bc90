#include "tuner/whole_model/contest/race.h"

#include <algorithm>

#include "base/clock.h"
#include "base/isolated.h"
#include "tuner/whole_model/contest/side_by_side.h"

namespace attune::whole_model {
namespace {

// How long a model took, round by round.
struct Runner {
  Contestant contestant;
  std::vector<double> samples_ms = {};
  Repeats repeats = {};

  Result<double> run_ms() {
    const std::int64_t start = contestant.session.now_ns();
    ATTUNE_RETURN_IF_ERROR(contestant.run());
    const std::int64_t end = contestant.session.now_ns();
    repeats.add(end - start);
    return seconds_between(start, end) * 1e3;
  }

  // The fastest call within the time given; one at least, after one that warms up.
  Status sample(double seconds) {
    const SteadyClock clock;
    const std::int64_t start = clock.now_ns();
    auto best = run_ms();
    if (!best.ok()) return best.error();
    do {
      auto again = run_ms();
      if (!again.ok()) return again.error();
      *best = std::min(*best, *again);
    } while (seconds_between(start, clock.now_ns()) < seconds);
    samples_ms.push_back(*best);
    return {};
  }
};

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

// By the signs of their rounds, which one disturbed round does not change much: about 8 of 8, 11 of
// 12, 14 of 16, 17 of 20.
bool clearly_beats(const Runner& one, const Runner& other) {
  const std::size_t rounds = one.samples_ms.size();
  double lead = 0;
  for (std::size_t i = 0; i < rounds; ++i) {
    if (one.samples_ms[i] < other.samples_ms[i]) ++lead;
    if (one.samples_ms[i] > other.samples_ms[i]) --lead;
  }
  return lead > 0 && lead * lead >= 8 * static_cast<double>(rounds);
}

// One model alone has nobody to win against: all of its rounds are wanted.
bool is_decided(const std::vector<Runner>& runners) {
  const auto wins = [&](const Runner& runner) {
    return std::all_of(runners.begin(), runners.end(), [&](const Runner& other) {
      return &runner == &other || clearly_beats(runner, other);
    });
  };
  return runners.size() > 1 && std::any_of(runners.begin(), runners.end(), wins);
}

}  // namespace

Result<std::vector<double>> race(const std::vector<std::string>& artifacts,
                                 const model::ReadInputs& inputs, const RaceOptions& options) {
  const auto work = [&]() -> Result<Bytes> {
    ATTUNE_ASSIGN(std::vector<Contestant> contestants, load_side_by_side(artifacts, inputs));
    std::vector<Runner> runners;
    for (Contestant& contestant : contestants) runners.push_back({std::move(contestant)});
    const double slice = options.seconds / options.rounds /
                         static_cast<double>(std::max<std::size_t>(1, runners.size()));
    const SteadyClock clock;
    const std::int64_t start_ns = clock.now_ns();
    for (int round = 0; round < options.rounds; ++round) {
      for (Runner& runner : runners) ATTUNE_RETURN_IF_ERROR(runner.sample(slice));
      const double elapsed = seconds_between(start_ns, clock.now_ns());
      const bool enough = elapsed >= options.seconds || is_decided(runners);
      const bool exact = std::all_of(runners.begin(), runners.end(),
                                     [](const Runner& runner) { return runner.repeats.exact(); });
      if (exact || (round + 1 >= options.least_rounds && enough)) break;
    }
    Bytes bytes;
    for (const Runner& runner : runners) append_value(bytes, median(runner.samples_ms));
    return bytes;
  };
  ATTUNE_ASSIGN(const Bytes answer, run_isolated("the comparison of whole models", work));
  std::span<const char> bytes = answer;
  std::vector<double> latencies;
  for (std::size_t i = 0; i < artifacts.size(); ++i) latencies.push_back(take_value<double>(bytes));
  return latencies;
}

}  // namespace attune::whole_model
