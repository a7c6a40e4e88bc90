#include "tuner/measure/probe/judgement.h"

#include <fmt/format.h>
#include <string.h>
#include <sys/wait.h>

#include <cmath>

#include "tuner/measure/probe/crash_watch.h"
#include "tuner/measure/probe/deadlines.h"
#include "tuner/measure/probe/worker.h"

namespace attune::probe {
namespace {

using outcome::Phase;

// A preparation that fails does so in the phase before the candidate's own.
Phase told(Phase phase, const Progress& progress) {
  return progress.preparing ? Phase::Prepare : phase;
}

// Memory that is refused shows as a null pointer in code that does not look.
std::string describe(const Fault& fault, const MeasureOptions& options) {
  std::string why = describe_fault(fault);
  constexpr std::uint64_t kNullPages = 65536;
  if (fault.has_address && fault.place == Place::Elsewhere && fault.address < kNullPages) {
    why += fmt::format(" (memory beyond its limit of {} MiB is refused with a null pointer)",
                       options.memory_limit_bytes >> 20);
  }
  return why;
}

// Why a worker that ran nothing could not begin, by its exit status; null: it did not say so.
const char* why_not_begun(int exit_status) {
  switch (exit_status) {
    case kNoCageExitStatus:
      return "the measuring process cannot be caged";
    case kNoCoreExitStatus:
      return "the measuring process may not run on its core any more";
    case kNoDeviceExitStatus:
      return "the measuring process cannot open its device";
    default:
      return nullptr;
  }
}

}  // namespace

void blame_exit(Report& verdict, std::optional<int> status, bool ran, const Progress& progress,
                const MeasureOptions& options) {
  const Phase phase = phase_of(progress);
  const Fault fault = progress.fault;
  const auto crashed = [&](int signal, const std::string& why) {
    verdict.fail(ReportState::Crashed, told(phase, progress), why);
    verdict.signal = signal;
  };
  if (!status) {
    crashed(0, "closed its connection and did not end");
  } else if (WIFEXITED(*status) && WEXITSTATUS(*status) == kFaultExitStatus && fault.signal != 0) {
    crashed(fault.signal, describe(fault, options));
  } else if (WIFEXITED(*status) && !ran && why_not_begun(WEXITSTATUS(*status)) != nullptr) {
    verdict.fail(ReportState::Lost, Phase::Load, why_not_begun(WEXITSTATUS(*status)));
  } else if (WIFEXITED(*status)) {
    crashed(0, fmt::format("ended the process with exit status {}", WEXITSTATUS(*status)));
  } else if (WTERMSIG(*status) == SIGKILL || !runs_kernel(phase)) {
    verdict.fail(ReportState::Lost, phase,
                 fmt::format("the measuring process was killed from outside (signal {})",
                             WTERMSIG(*status)));
  } else {
    crashed(WTERMSIG(*status),
            fmt::format("fatal signal {} ({})", WTERMSIG(*status), strsignal(WTERMSIG(*status))));
  }
}

void blame_memory(Report& verdict, Phase phase, const Progress& progress,
                  const MeasureOptions& options) {
  verdict.fail(
      ReportState::Crashed, told(phase, progress),
      fmt::format("took more memory than its limit of {} MiB", options.memory_limit_bytes >> 20));
}

void blame_silence(Report& verdict, Phase phase, const Progress& progress,
                   const MeasureOptions& options) {
  verdict.limit_ms = runs_kernel(phase) ? options.timeout_ms : kSetUpLimitMs;
  verdict.fail(ReportState::TimedOut, told(phase, progress),
               fmt::format("no answer after {:.0f} ms", verdict.limit_ms));
}

SentinelReading sane(const SentinelReading& said) {
  const SentinelReading copy = said;
  const auto is_time = [](double us) { return std::isfinite(us) && us >= 0.0; };
  return is_time(copy.compute_us) && is_time(copy.memory_us) ? copy : SentinelReading();
}

}  // namespace attune::probe
