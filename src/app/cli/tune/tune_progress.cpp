#include "app/cli/tune/tune_progress.h"

#include <fmt/format.h>

#include "app/cli/text_width.h"
#include "app/cli/tune/tune_table.h"

namespace attune::cli {
namespace {

// Between two drawings of the table: no eye needs more.
constexpr double kDrawSeconds = 0.1;
// Between plain lines, which stay where they are written: of one task, and of many.
constexpr double kTaskLineSeconds = 2, kModelLineSeconds = 5;
// Long specs leave no room for what changes.
constexpr std::size_t kNameColumns = 40;

std::string best_text(const whole_model::TaskProgress& task) {
  if (!task.best_us) return {};
  std::string text = fmt::format("  best {:.4g} µs", *task.best_us);
  if (task.best_gflops > 0) {
    text +=
        fmt::format(", {:.1f} GFLOP/s ({:.0f} % of peak)", task.best_gflops, task.percent_of_peak);
  }
  return text;
}

}  // namespace

std::string progress_text(const whole_model::TuneProgress& p) {
  if (p.tasks.size() != 1) {
    std::string text = tune_summary(p);
    if (!p.of_whole && !p.tasks.empty()) text += "  " + p.tasks[p.task].name;
    return text;
  }
  const whole_model::TaskProgress& task = p.tasks.front();
  std::string text = shortened(task.name, kNameColumns);
  text += p.trials_total ? fmt::format("  {}/{} trials", p.trials, *p.trials_total)
                         : fmt::format("  {} trials", p.trials);
  text += best_text(task);
  for (const auto& [kind, count] : p.failures) text += fmt::format("  {} {}", count, kind);
  if (p.left_seconds && !p.closing)
    text += fmt::format("  {} left", spelled_duration(*p.left_seconds));
  return text;
}

void TuneDisplay::show(const whole_model::TuneProgress& progress) {
  const bool ended = progress.closing && progress.stage == "confirm";
  const bool due = progress.elapsed_seconds >= next_seconds_;
  if (console_.is_terminal()) {
    if (!due && !progress.of_whole && !ended) return;
    next_seconds_ = progress.elapsed_seconds + kDrawSeconds;
    const Screen size = console_.progress_screen();
    // The cursor stands on a line of its own below the table, and one column stays free.
    console_.progress_lines(tune_table(progress, size.columns - 1, size.rows - 1));
    return;
  }
  if (!due || progress.trials == 0 || progress.begins) return;
  next_seconds_ = progress.elapsed_seconds +
                  (progress.tasks.size() == 1 ? kTaskLineSeconds : kModelLineSeconds);
  console_.note(progress_text(progress));
}

}  // namespace attune::cli
