#include "tuner/measure/probe/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>

namespace attune::probe {
namespace {

using outcome::Phase;
using outcome::Timing;

bool exists(ReportState state) { return state <= ReportState::Lost; }
bool exists(Phase phase) { return phase <= Phase::Verify; }

bool makes_sense(const Timing& timing) {
  const auto is_time = [](double value) { return std::isfinite(value) && value >= 0.0; };
  return is_time(timing.best_us) && is_time(timing.median_us) && is_time(timing.cv) &&
         timing.best_us > 0.0 && timing.best_us <= timing.median_us && timing.repeats >= 1 &&
         timing.calls_per_repeat >= 1;
}

// Bytes of a bool are 0 or 1 only when the compiler wrote them.
bool truth(const bool& said) {
  unsigned char byte = 0;
  std::memcpy(&byte, &said, 1);
  return byte != 0;
}

}  // namespace

void Report::fail(ReportState how, Phase where, std::string_view why) {
  state = how;
  phase = where;
  const std::size_t length = std::min(why.size(), sizeof reason - 1);
  std::memcpy(reason, why.data(), length);
  reason[length] = '\0';
}

outcome::Outcome Report::outcome() const {
  switch (state) {
    case ReportState::Timed:
      return timing;
    case ReportState::BuildFailed:
      return outcome::BuildFailed{phase, reason};
    case ReportState::Crashed:
      return outcome::RunCrashed{phase, signal, reason};
    case ReportState::TimedOut:
      return outcome::TimedOut{phase, limit_ms, reason};
    case ReportState::Wrong:
      return outcome::WrongAnswer{phase, 0.0, reason};
    case ReportState::Lost:
      return outcome::InfrastructureLost{phase, reason};
    case ReportState::Pending:
      break;
  }
  return outcome::InfrastructureLost{phase, "the measuring process ended before it was run"};
}

Report sane(const Report& said) {
  Report report;
  std::memcpy(&report, &said, sizeof report);
  report.tainted = truth(said.tainted);
  report.timing.cut_short = truth(said.timing.cut_short);
  report.timing.cold_weights = truth(said.timing.cold_weights);
  report.timing.noisy = false;
  report.timing.verified = false;
  report.timing.max_error = 0.0;
  report.reason[sizeof report.reason - 1] = '\0';
  for (char* c = report.reason; *c != '\0'; ++c) {
    if (*c < ' ' || *c > '~') *c = '?';
  }
  const bool known = exists(report.state) && exists(report.phase);
  if (known && (report.state != ReportState::Timed || makes_sense(report.timing))) return report;
  Report senseless;
  senseless.tainted = true;
  senseless.fail(ReportState::Crashed, Phase::Run, "left a report that makes no sense");
  return senseless;
}

std::string implausible(const Report& said, const Passed& passed) {
  // Between the calls are comparing and copying, and other processes may have had the core.
  constexpr double kSlackUs = 50'000.0;
  constexpr double kLeastShare = 0.2;
  const Timing& timing = said.timing;
  const double least_us = timing.best_us * static_cast<double>(timing.calls_per_repeat) *
                          static_cast<double>(timing.repeats);
  if (!(said.busy_us >= 0.999 * least_us)) {
    return fmt::format("reports calls of {:.0f} us, but repeats that took {:.0f} us", said.busy_us,
                       least_us);
  }
  if (said.busy_us > passed.since_asked_us) {
    return fmt::format("reports calls of {:.0f} us within {:.0f} us", said.busy_us,
                       passed.since_asked_us);
  }
  if (said.busy_us < kLeastShare * (passed.since_word_us - kSlackUs)) {
    return fmt::format("reports calls of {:.0f} us, but ran for {:.0f} us", said.busy_us,
                       passed.since_word_us);
  }
  return {};
}

}  // namespace attune::probe
