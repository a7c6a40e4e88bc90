#include "tuner/session/report.h"

#include <utility>

#include "base/check.h"

namespace attune::session {
namespace {

// Sum of times over all uses; empty as soon as one is unknown.
class Total {
 public:
  void add(const std::optional<double>& time_us, std::int64_t uses) {
    known_ = known_ && time_us.has_value();
    if (time_us) sum_us_ += *time_us * static_cast<double>(uses);
  }
  std::optional<double> milliseconds() const {
    return known_ ? std::optional(sum_us_ * 1e-3) : std::nullopt;
  }

 private:
  bool known_ = true;
  double sum_us_ = 0;
};

}  // namespace

TuneReport summarize(std::vector<TaskReport> tasks, const std::vector<std::int64_t>& uses,
                     double seconds) {
  CHECK(uses.empty() || uses.size() == tasks.size(), "one number of uses per task");
  TuneReport report;
  report.seconds = seconds;
  Total before, after;
  std::int64_t trials = 0;
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    const std::int64_t times = uses.empty() ? 1 : uses[i];
    before.add(tasks[i].default_us, times);
    after.add(tasks[i].best_us, times);
    trials += tasks[i].trials_this_run;
  }
  if (!tasks.empty()) report.seed = tasks.front().seed;
  report.latency_ms = after.milliseconds();
  report.default_latency_ms = before.milliseconds();
  if (seconds > 0) report.trials_per_second = static_cast<double>(trials) / seconds;
  report.tasks = std::move(tasks);
  return report;
}

}  // namespace attune::session
