#include "tuner/outcome/outcome.h"

#include <cstdio>

#include "base/check.h"
#include "base/match.h"

namespace attune::outcome {
namespace {

std::string failure_text(const char* what, Phase phase, const std::string& reason) {
  return std::string(what) + " in " + std::string(name_of(phase)) + ": " + reason;
}

}  // namespace

std::string_view name_of(Phase phase) {
  switch (phase) {
    case Phase::Build:
      return "build";
    case Phase::Load:
      return "load";
    case Phase::Prepare:
      return "prepare";
    case Phase::Run:
      return "run";
    case Phase::Verify:
      return "verify";
  }
  CHECK(false, "unknown phase");
}

std::string_view kind_of(const Outcome& outcome) {
  return std::visit(
      Match{[](const Timing&) { return std::string_view("timing"); },
            [](const BuildFailed&) { return std::string_view("build_failed"); },
            [](const RunCrashed&) { return std::string_view("run_crashed"); },
            [](const TimedOut&) { return std::string_view("timed_out"); },
            [](const WrongAnswer&) { return std::string_view("wrong_answer"); },
            [](const InfrastructureLost&) { return std::string_view("infrastructure_lost"); }},
      outcome);
}

Phase phase_of(const Outcome& outcome) {
  return std::visit(Match{[](const Timing&) { return Phase::Run; },
                          [](const auto& failure) { return failure.phase; }},
                    outcome);
}

std::string describe(const Outcome& outcome) {
  return std::visit(
      Match{[](const Timing& t) {
              char text[128];
              std::snprintf(text, sizeof text, "%.3f us (median %.3f us, cv %.1f %%, %d repeats%s)",
                            t.best_us, t.median_us, t.cv * 100.0, t.repeats,
                            t.noisy ? ", noisy" : "");
              return std::string(text);
            },
            [](const BuildFailed& f) { return failure_text("build failed", f.phase, f.reason); },
            [](const RunCrashed& f) { return failure_text("crashed", f.phase, f.reason); },
            [](const TimedOut& f) { return failure_text("timed out", f.phase, f.reason); },
            [](const WrongAnswer& f) { return failure_text("wrong answer", f.phase, f.reason); },
            [](const InfrastructureLost& f) {
              return failure_text("infrastructure lost", f.phase, f.reason);
            }},
      outcome);
}

}  // namespace attune::outcome
