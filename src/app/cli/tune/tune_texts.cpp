#include "app/cli/tune/tune_texts.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <vector>

#include "app/cli/text_width.h"

namespace attune::cli {
namespace {

constexpr const char* kWhatBecame = "'attune records list' says what became of each";

std::string gain_text(const std::optional<double>& before, const std::optional<double>& after) {
  return before && after ? fmt::format("{:.2f}x", *before / *after) : "";
}

std::optional<double> as_ms(const std::optional<double>& us) {
  if (!us) return std::nullopt;
  return *us * 1e-3;
}

void add_row(std::string& table, const std::string& name, const std::optional<double>& before,
             const std::optional<double>& after, const std::string& speed) {
  table += fmt::format("{:<44} {:>12} {:>12} {:>7}  {}\n", name, milliseconds_text(before),
                       milliseconds_text(after), gain_text(before, after), speed);
}

// The tasks that matter most, so that the table of a large model stays readable.
std::vector<whole_model::TunedTask> shown_tasks(const whole_model::TuneReport& report) {
  constexpr std::size_t kMost = 20;
  const auto share = [](const whole_model::TunedTask& task) {
    return task.default_us.value_or(0) * static_cast<double>(task.uses);
  };
  std::vector<whole_model::TunedTask> tasks = report.tasks;
  std::stable_sort(tasks.begin(), tasks.end(),
                   [&](const auto& a, const auto& b) { return share(a) > share(b); });
  if (tasks.size() > kMost) tasks.resize(kMost);
  for (whole_model::TunedTask& task : tasks) {
    if (task.uses > 1) task.name += fmt::format(" (x{})", task.uses);
  }
  return tasks;
}

std::string table_of(const whole_model::TuneReport& report) {
  std::string table =
      fmt::format("{:<44} {:>12} {:>12} {:>7}  {}\n", "task", "before", "after", "gain", "speed");
  for (const whole_model::TunedTask& task : shown_tasks(report)) {
    std::string speed;
    if (task.gflops > 0) {
      speed = fmt::format("{:.1f} GFLOP/s, {:.1f} % of peak", task.gflops, task.percent_of_peak);
    }
    add_row(table, task.name, as_ms(task.default_us), as_ms(task.best_us), speed);
  }
  if (report.tasks.size() > 1) {
    add_row(table, "whole", report.default_latency_ms, report.latency_ms, "");
  }
  return table;
}

// Reasons may be long and have several lines; the records have them whole.
std::string first_line(const std::string& text) {
  constexpr std::size_t kMost = 120;
  return shortened(text.substr(0, text.find('\n')), kMost);
}

// A bar for each kind, the longest for the most frequent, with one example.
std::string histogram_of(const std::vector<whole_model::FailureKind>& failures) {
  constexpr double kLongest = 20;
  std::string text;
  for (const whole_model::FailureKind& each : failures) {
    const double part = static_cast<double>(each.count) / static_cast<double>(failures[0].count);
    const auto bar = static_cast<std::size_t>(std::max(1.0, kLongest * part));
    text += fmt::format("{:<20} {:>7}  {}\n", each.kind, each.count, std::string(bar, '#'));
    text += fmt::format("  e.g. candidate {} of {}: {}\n", each.example.candidate,
                        each.example.task, first_line(each.example.reason));
  }
  return text;
}

}  // namespace

std::string milliseconds_text(const std::optional<double>& ms) {
  return ms ? fmt::format("{:.4g} ms", *ms) : "none";
}

std::string failures_text(const whole_model::Failures& failures) {
  std::vector<std::string> kinds;
  for (const auto& [kind, count] : failures) kinds.push_back(fmt::format("{} {}", count, kind));
  return fmt::format("{}", fmt::join(kinds, ", "));
}

std::string rejections_text(const whole_model::TuneReport& report) {
  constexpr std::size_t kMost = 5;
  std::map<std::string, std::int64_t> sums;
  std::int64_t all = 0;
  for (const whole_model::TunedTask& task : report.tasks) {
    for (const auto& [reason, count] : task.rejected) {
      sums[reason] += count;
      all += count;
    }
  }
  if (sums.empty()) return "";
  std::vector<std::pair<std::int64_t, std::string>> reasons;
  for (const auto& [reason, count] : sums) reasons.emplace_back(count, reason);
  std::stable_sort(reasons.begin(), reasons.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  std::vector<std::string> parts;
  for (const auto& [count, reason] : reasons) {
    if (parts.size() == kMost) break;
    parts.push_back(fmt::format("{} {}", count, reason));
  }
  if (reasons.size() > kMost) {
    parts.push_back(fmt::format("the others for {} further reasons", reasons.size() - kMost));
  }
  return fmt::format("{} schedules were not worth building: {}", all, fmt::join(parts, ", "));
}

Status verdict_on_records(const whole_model::TuneReport& report) {
  const whole_model::TunedTask& task = report.tasks.front();
  if (!report.latency_ms) {
    return Error{ErrorCode::Unsupported,
                 fmt::format("no candidate ran, not even the default schedule: {}",
                             failures_text(task.failures)),
                 kWhatBecame};
  }
  if (!task.all_failed()) return {};
  return Error{ErrorCode::Unsupported,
               fmt::format("all candidates failed: {}; the default schedule stays",
                           failures_text(task.failures)),
               kWhatBecame};
}

Status verdict_on_artifact(const whole_model::TuneReport& report) {
  whole_model::Failures failures;
  for (const whole_model::TunedTask& task : report.tasks) {
    if (!task.all_failed()) return {};
    for (const auto& [kind, count] : task.failures) failures[kind] += count;
  }
  if (report.tasks.empty()) return {};
  return Error{ErrorCode::Unsupported,
               fmt::format("all candidates failed: {}; the default schedules stay, compiled to {}",
                           failures_text(failures), report.output),
               kWhatBecame};
}

std::string text_of(const whole_model::TuneReport& report) {
  std::string text = table_of(report);
  if (!report.failures.empty()) text += "\nfailures\n" + histogram_of(report.failures);
  return text;
}

}  // namespace attune::cli
