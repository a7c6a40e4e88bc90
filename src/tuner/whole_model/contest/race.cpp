#include "tuner/whole_model/contest/race.h"

#include <algorithm>

#include "base/answer_reader.h"
#include "base/isolated.h"
#include "compiler/model/load/caged_model.h"
#include "tuner/whole_model/contest/burst.h"
#include "tuner/whole_model/contest/side_by_side.h"
#include "tuner/whole_model/contest/standings.h"
#include "tuner/whole_model/contest/time_limit.h"

namespace attune::whole_model {
namespace {

struct Runner {
  Contestant contestant;
  Repeats repeats = {};

  Result<double> run_ms() {
    ATTUNE_ASSIGN(const double us, contestant.session.time_us(contestant.inputs));
    repeats.add(us);
    return us * 1e-3;
  }

  Result<double> take_turn(double seconds) {
    return burst_ms([&] { return run_ms(); }, SteadyClock(), seconds);
  }
};

// Now and then only: who asks often enough is told by chance what he wants to hear.
bool is_asked(const Standings& standings, const RaceOptions& options) {
  return static_cast<int>(standings.rounds()) % options.least_rounds == 0;
}

// Whether nothing more is asked, decided or not.
bool is_enough(int rounds, double elapsed_seconds, const RaceOptions& options) {
  if (elapsed_seconds < options.open_seconds) return false;
  return rounds >= kEnoughRounds * options.least_rounds ||
         elapsed_seconds >= kLongestOpen * options.open_seconds;
}

bool is_over(const Standings& standings, const Turns& turns, double elapsed_seconds,
             const RaceOptions& options) {
  const auto rounds = static_cast<int>(standings.rounds());
  if (rounds < options.least_rounds) return false;
  if (turns.runners == 1) return rounds >= options.rounds || elapsed_seconds >= options.seconds;
  if (is_enough(rounds, elapsed_seconds, options)) return true;
  if (!is_asked(standings, options)) return false;
  return elapsed_seconds >= options.seconds ? standings.is_decided() : standings.is_ranked();
}

Result<RaceResult> race_here(const std::vector<std::string>& artifacts,
                             const model::ReadInputs& inputs, const RaceOptions& options) {
  ATTUNE_ASSIGN(std::vector<Contestant> contestants, load_side_by_side(artifacts, inputs));
  if (!contestants.empty()) {
    ATTUNE_RETURN_IF_ERROR(model::enter_cage(contestants.front().model));
  }
  std::vector<Runner> runners;
  for (Contestant& contestant : contestants) runners.push_back({std::move(contestant)});
  const Turns turns{.runners = runners.size(),
                    .take = [&](std::size_t i, double s) { return runners[i].take_turn(s); },
                    .exact =
                        [&] {
                          return std::all_of(
                              runners.begin(), runners.end(),
                              [](const Runner& runner) { return runner.repeats.exact(); });
                        }};
  return race_in_turns(turns, SteadyClock(), options);
}

}  // namespace

RaceOptions race_behind(double tuning_seconds) {
  constexpr double kOfTuning = 0.03, kLeast = 1;
  RaceOptions options;
  const double share = kOfTuning * tuning_seconds;
  options.seconds = std::clamp(share, kLeast, options.seconds);
  options.open_seconds = std::clamp(share, options.seconds, options.open_seconds);
  return options;
}

Result<RaceResult> race_in_turns(const Turns& turns, const Clock& clock,
                                 const RaceOptions& options) {
  RaceResult result;
  if (turns.runners == 0) return result;
  const double slice = options.seconds / options.rounds / static_cast<double>(turns.runners);
  const std::int64_t start_ns = clock.now_ns();
  Standings standings(turns.runners);
  bool exact = false;
  do {
    std::vector<std::size_t> order = standings.running();
    // To and fro, so that nobody always runs after the same one.
    if (standings.rounds() % 2 == 1) std::reverse(order.begin(), order.end());
    for (const std::size_t runner : order) {
      ATTUNE_ASSIGN(const double sample_ms, turns.take(runner, slice));
      standings.add(runner, sample_ms);
    }
    if (is_asked(standings, options)) standings.drop_beaten();
    exact = turns.exact();
  } while (!exact &&
           !is_over(standings, turns, seconds_between(start_ns, clock.now_ns()), options));
  for (std::size_t i = 0; i < turns.runners; ++i) {
    result.latency_ms.push_back(standings.median_ms(i));
  }
  result.winner = exact ? standings.winner(exact) : standings.winner_as_promised(options.promised);
  return result;
}

Result<RaceResult> race(const std::vector<std::string>& artifacts, const model::ReadInputs& inputs,
                        const RaceOptions& options) {
  const auto work = [&]() -> Result<Bytes> {
    ATTUNE_ASSIGN(const RaceResult result, race_here(artifacts, inputs, options));
    Bytes bytes;
    append_value(bytes, result.winner);
    for (const double latency_ms : result.latency_ms) append_value(bytes, latency_ms);
    return bytes;
  };
  // The cage limits addresses, when the models are known.
  ATTUNE_ASSIGN(const Bytes answer,
                run_isolated("the comparison of whole models", work,
                             {.seconds = time_limit(options.open_seconds, artifacts.size()),
                              .limits_addresses = false}));
  AnswerReader reader(answer);
  RaceResult result;
  result.winner = reader.value<std::size_t>();
  for (std::size_t i = 0; i < artifacts.size(); ++i) {
    result.latency_ms.push_back(reader.value<double>());
  }
  ATTUNE_RETURN_IF_ERROR(reader.status());
  if (result.winner < std::max<std::size_t>(artifacts.size(), 1)) return result;
  return Error{ErrorCode::Io, "the comparison of whole models names a winner that did not run", ""};
}

}  // namespace attune::whole_model
