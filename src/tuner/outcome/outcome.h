// What became of a candidate: a timing, or the phase and reason of its failure. Plain data, shared
// by the measuring child, the tuner, the records and the fleet.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

namespace attune::outcome {

enum class Phase : std::uint8_t { Build, Load, Prepare, Run, Verify };
std::string_view name_of(Phase phase);

struct Timing {
  double best_us = 0.0;    // fastest repeat, per call
  double median_us = 0.0;  // over the repeats
  double cv = 0.0;         // standard deviation over mean of the repeats
  int repeats = 0;
  std::int64_t calls_per_repeat = 0;
  bool cut_short = false;     // stopped after its first repeat, being far slower than the best
  bool cold_weights = false;  // constant buffers rotated through more memory than the caches hold
  bool noisy = false;         // the machine itself was unsteady meanwhile
  bool verified = false;      // outputs were compared with expected values
  double max_error = 0.0;     // largest absolute error seen when verified

  bool operator==(const Timing&) const = default;
};

// No kernel came to be.
struct BuildFailed {
  Phase phase = Phase::Build;
  std::string reason;
  bool operator==(const BuildFailed&) const = default;
};

// The kernel died of a signal, broke its memory bounds, or returned an error.
struct RunCrashed {
  Phase phase = Phase::Run;
  int signal = 0;  // 0: it ended by itself
  std::string reason;
  bool operator==(const RunCrashed&) const = default;
};

struct TimedOut {
  Phase phase = Phase::Run;
  double limit_ms = 0.0;
  std::string reason;
  bool operator==(const TimedOut&) const = default;
};

struct WrongAnswer {
  Phase phase = Phase::Verify;
  double max_error = 0.0;  // largest absolute error; infinite when a NaN is involved
  std::string reason;
  bool operator==(const WrongAnswer&) const = default;
};

// The candidate is not to blame; never training data.
struct InfrastructureLost {
  Phase phase = Phase::Run;
  std::string reason;
  bool operator==(const InfrastructureLost&) const = default;
};

using Outcome =
    std::variant<Timing, BuildFailed, RunCrashed, TimedOut, WrongAnswer, InfrastructureLost>;

// "timing", "build_failed", "run_crashed", "timed_out", "wrong_answer", "infrastructure_lost".
std::string_view kind_of(const Outcome& outcome);
// Phase::Run for a timing.
Phase phase_of(const Outcome& outcome);
// One line for a person, e.g. "timed out in run: no answer after 2000 ms".
std::string describe(const Outcome& outcome);

}  // namespace attune::outcome
