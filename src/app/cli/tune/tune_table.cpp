#include "app/cli/tune/tune_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <span>

#include "app/cli/text_width.h"
#include "tuner/whole_model/report/stage_words.h"

namespace attune::cli {
namespace {

using whole_model::TaskProgress;
using whole_model::TuneProgress;

constexpr std::size_t kLeastName = 16;
constexpr std::size_t kMostName = 60;

std::string share_text(double share) {
  return share > 0 ? fmt::format("{:.1f} %", 100 * share) : "-";
}

std::string time_text(const std::optional<double>& us) {
  if (!us) return "-";
  return *us < 1000 ? fmt::format("{:.4g} µs", *us) : fmt::format("{:.4g} ms", *us * 1e-3);
}

std::string gain_text(const TaskProgress& task) {
  if (!task.best_us || !task.default_us) return "-";
  return fmt::format("{:.2f}x", *task.default_us / *task.best_us);
}

std::string quality_text(const TaskProgress& task) {
  return task.model_quality ? fmt::format("{:.0f} %", 100 * *task.model_quality) : "-";
}

std::string left_text(const TaskProgress& task, const TuneProgress& progress) {
  if (task.settled) return "settled";
  if (progress.closing) return "closing";
  if (!task.left_seconds) return task.trials > 0 ? "-" : "waiting";
  // It cannot take longer than the whole.
  return spelled_duration(std::min(*task.left_seconds, progress.left_seconds.value_or(1e9)));
}

struct Column {
  const char* title;
  std::size_t columns;
  int importance;  // columns of little importance go first when there is too little room
  std::string (*text)(const TaskProgress&, const TuneProgress&);
};

std::vector<Column> columns_within(std::size_t room) {
  std::vector<Column> all = {
      {"share", 8, 3,
       [](const TaskProgress& t, const TuneProgress&) { return share_text(t.share); }},
      {"trials", 8, 4,
       [](const TaskProgress& t, const TuneProgress&) { return std::to_string(t.trials); }},
      {"best", 11, 6,
       [](const TaskProgress& t, const TuneProgress&) { return time_text(t.best_us); }},
      {"gain", 8, 5, [](const TaskProgress& t, const TuneProgress&) { return gain_text(t); }},
      {"model", 7, 1, [](const TaskProgress& t, const TuneProgress&) { return quality_text(t); }},
      {"left", 13, 2, left_text},
  };
  const auto taken = [&] {
    return std::accumulate(all.begin(), all.end(), std::size_t{0},
                           [](std::size_t sum, const Column& each) { return sum + each.columns; });
  };
  while (!all.empty() && taken() + kLeastName > room) {
    all.erase(std::min_element(all.begin(), all.end(), [](const Column& a, const Column& b) {
      return a.importance < b.importance;
    }));
  }
  return all;
}

// The tasks with the largest shares first; those that have none yet in their own order.
std::vector<const TaskProgress*> by_share(const TuneProgress& progress) {
  std::vector<const TaskProgress*> tasks;
  for (const TaskProgress& task : progress.tasks) tasks.push_back(&task);
  std::stable_sort(tasks.begin(), tasks.end(), [](const TaskProgress* a, const TaskProgress* b) {
    return a->share > b->share;
  });
  return tasks;
}

class Table {
 public:
  Table(const TuneProgress& progress, std::size_t columns)
      : progress_(progress), columns_(columns_within(columns)) {
    std::size_t taken = 0;
    for (const Column& each : columns_) taken += each.columns;
    std::size_t widest = 4;
    for (const TaskProgress& task : progress.tasks) {
      widest = std::max(widest, text_columns(task.name));
    }
    name_columns_ = std::min({columns - std::min(columns, taken), widest, kMostName});
  }

  std::string title() const {
    std::string line = left_aligned("task", name_columns_);
    for (const Column& each : columns_) line += right_aligned(each.title, each.columns);
    return line;
  }
  std::string row(const TaskProgress& task) const {
    std::string line = left_aligned(task.name, name_columns_);
    for (const Column& each : columns_) {
      line += right_aligned(each.text(task, progress_), each.columns);
    }
    return line;
  }

 private:
  const TuneProgress& progress_;
  std::vector<Column> columns_;
  std::size_t name_columns_ = 0;
};

// Of the rows that are not shown.
std::string others_text(std::span<const TaskProgress* const> others) {
  double share = 0;
  std::int64_t trials = 0;
  for (const TaskProgress* task : others) {
    share += task->share;
    trials += task->trials;
  }
  return fmt::format("and {} more: {} of the time, {} trials", others.size(), share_text(share),
                     trials);
}

std::string doing_text(const TuneProgress& progress) {
  if (!progress.of_whole) return progress.closing ? "comparing the best" : "";
  if (!progress.begins) return "";
  return whole_model::stage_in_words(progress.stage);
}

}  // namespace

std::string tune_summary(const TuneProgress& p) {
  std::string text;
  const auto add = [&](const std::string& part) {
    if (!part.empty()) text += (text.empty() ? "" : "  ") + part;
  };
  if (p.tasks.size() > 1) add(fmt::format("{}/{} tasks settled", p.settled(), p.tasks.size()));
  if (!p.tasks.empty()) {
    add(p.trials_total ? fmt::format("{}/{} trials", p.trials, *p.trials_total)
                       : fmt::format("{} trials", p.trials));
  }
  if (p.tasks.size() > 1 && p.latency_ms > 0) add(fmt::format("sum {:.4g} ms", p.latency_ms));
  for (const auto& [kind, count] : p.failures) add(fmt::format("{} {}", count, kind));
  add(doing_text(p));
  if (p.left_seconds) add(fmt::format("{} left", spelled_duration(*p.left_seconds)));
  return text;
}

std::vector<std::string> tune_table(const TuneProgress& progress, std::size_t columns,
                                    std::size_t rows) {
  std::vector<std::string> lines = {shortened(tune_summary(progress), columns)};
  const std::vector<const TaskProgress*> tasks = by_share(progress);
  if (tasks.empty() || rows < 3) return lines;
  const Table table(progress, columns);
  lines.push_back(table.title());
  const std::size_t room = rows - 2;
  const std::size_t shown = tasks.size() <= room ? tasks.size() : room - 1;
  for (std::size_t i = 0; i < shown; ++i) lines.push_back(table.row(*tasks[i]));
  if (shown < tasks.size()) {
    lines.push_back(shortened(others_text(std::span(tasks).subspan(shown)), columns));
  }
  return lines;
}

}  // namespace attune::cli
