#include "app/cli/tune_progress.h"

#include <fmt/format.h>

#include <cmath>

namespace attune::cli {
namespace {

// Between plain lines, which stay where they are written.
constexpr double kPlainSeconds = 2;

std::string duration_text(double seconds) {
  if (seconds < 60) return fmt::format("{:.0f} s", std::ceil(seconds));
  const auto whole = static_cast<long>(seconds);
  return fmt::format("{} min {} s", whole / 60, whole % 60);
}

// Long specs leave no room for what changes.
std::string short_name(const std::string& task) {
  constexpr std::size_t kMost = 40;
  return task.size() <= kMost ? task : task.substr(0, kMost - 1) + "…";
}

}  // namespace

std::string progress_text(const api::TuneProgress& p) {
  std::string text = p.limited_by_time ? fmt::format("{}  {} trials", short_name(p.task), p.trials)
                                       : fmt::format("{}  {}/{} trials", short_name(p.task),
                                                     p.trials, p.trials_total);
  if (p.best_us) {
    text += fmt::format("  best {:.4g} µs", *p.best_us);
    if (p.best_gflops > 0) {
      text += fmt::format(", {:.1f} GFLOP/s ({:.0f} % of peak)", p.best_gflops, p.percent_of_peak);
    }
  }
  for (const auto& [kind, count] : p.failures) text += fmt::format("  {} {}", count, kind);
  if (p.stage == "confirm") return text;
  if (p.eta_seconds) text += fmt::format("  ETA {}", duration_text(*p.eta_seconds));
  return text;
}

void TuneProgressLine::show(const api::TuneProgress& progress) {
  if (console_.is_terminal()) {
    console_.progress_line(progress_text(progress));
    return;
  }
  if (progress.elapsed_seconds < next_seconds_ || progress.trials == 0) return;
  next_seconds_ = progress.elapsed_seconds + kPlainSeconds;
  console_.note(progress_text(progress));
}

}  // namespace attune::cli
