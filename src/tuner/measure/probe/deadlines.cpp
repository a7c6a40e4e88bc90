#include "tuner/measure/probe/deadlines.h"

#include <algorithm>

namespace attune::probe {

using outcome::Phase;

bool runs_kernel(Phase phase) { return phase == Phase::Run || phase == Phase::Verify; }

Phase phase_of(const Progress& progress) {
  const Phase phase = progress.phase;
  return phase <= Phase::Verify ? phase : Phase::Run;
}

Deadlines::Deadlines(const RequestHeader& request, MessageKind command, std::int64_t now_ns)
    : start_ns_(now_ns),
      timeout_ms_(request.options.timeout_ms),
      set_up_ms_(kSetUpLimitMs + request.round_gap_ms) {
  // A candidate is loaded, prepared and called, called and compared, and called once more.
  const double one_ms = kSetUpLimitMs + 5 * timeout_ms_;
  most_ms_ = one_ms;
  if (command == MessageKind::Interleave) {
    const auto candidates = static_cast<double>(request.candidate_count);
    most_ms_ = candidates * one_ms +
               request.rounds * (2 * candidates * timeout_ms_ + request.round_gap_ms);
  }
}

double Deadlines::running_us(std::int64_t now_ns, std::optional<std::int64_t> worked_ns) const {
  if (!running()) return 0.0;
  std::int64_t ran_ns = now_ns - running_since_ns_;
  if (worked_ns && worked_before_ns_) ran_ns = std::min(ran_ns, *worked_ns - *worked_before_ns_);
  return static_cast<double>(ran_ns) * 1e-3;
}

double Deadlines::elapsed_ms(std::int64_t now_ns) const {
  return static_cast<double>(now_ns - start_ns_) * 1e-6;
}

double Deadlines::remaining_ms(std::int64_t now_ns, const Progress& progress) const {
  const double limit = runs_kernel(phase_of(progress)) ? timeout_ms_ : set_up_ms_;
  const std::int64_t since = std::clamp<std::int64_t>(progress.since_ns, start_ns_, now_ns);
  return std::min(limit - static_cast<double>(now_ns - since) * 1e-6,
                  most_ms_ - elapsed_ms(now_ns));
}

}  // namespace attune::probe
