#include "compiler/model/schedules/shipped.h"

#include <algorithm>
#include <limits>

#include "compiler/schedule/algorithm.h"
#include "tuner/cost_model/analytic.h"
#include "tuner/space/limits.h"

namespace attune::model {
namespace {

// Tasks further away than this teach nothing: a factor of four altogether.
constexpr double kFarthest = 2;
// What another number of threads counts for.
constexpr double kOtherThreads = 0.5;
constexpr std::size_t kLookedAt = 6;

struct Entry {
  const BundledTask* task = nullptr;
  double distance = 0;
};

std::optional<double> predict_us(const ScheduledTask& task, const schedule::Trace& trace,
                                 const target::Target& target) {
  const ir::Program* program = task.program_of(schedule::algorithm_of(trace));
  if (program == nullptr) return std::nullopt;
  auto state = schedule::replay(*program, trace);
  if (!state.ok()) return std::nullopt;
  auto bounds = schedule::infer_bounds(*state, schedule::Mins::Leave);
  if (!bounds.ok() || space::find_flaw(*state, *bounds, target)) return std::nullopt;
  return cost_model::predict({std::move(*state), std::move(*bounds)}, target).us;
}

// Nearest first; those at the same distance by weights, then in the order of the bundle.
std::vector<Entry> candidates_for(const Bundle& bundle, const ScheduledTask& task,
                                  const target::Target& target) {
  const ir::Program* direct = task.program_of("direct");
  const TaskShape shape = direct == nullptr ? TaskShape{} : shape_of(*direct);
  const BundledTarget here = bundled_target(target);
  std::vector<Entry> found;
  for (const BundledTask& other : bundle) {
    if (other.target.cpu != here.cpu || other.target.vector_bytes != here.vector_bytes) continue;
    double away = other.key == task.key ? 0 : distance(shape, other.shape);
    if (away > kFarthest) continue;
    // Equal shapes with something else fused to them.
    if (other.key != task.key) away += 0.1;
    if (other.weights != task.weights) away += 0.05;
    if (other.target.threads != here.threads) away += kOtherThreads;
    found.push_back({&other, away});
  }
  std::stable_sort(found.begin(), found.end(),
                   [](const Entry& a, const Entry& b) { return a.distance < b.distance; });
  return found;
}

}  // namespace

std::vector<ShippedSchedule> shipped_schedules(const Bundle& bundle, const ScheduledTask& task,
                                               const target::Target& target, std::size_t most) {
  std::vector<ShippedSchedule> chosen;
  std::vector<Entry> candidates = candidates_for(bundle, task, target);
  if (candidates.empty()) return chosen;
  candidates.resize(std::min(candidates.size(), kLookedAt));
  const double default_us = predict_us(task, task.default_trace, target)
                                .value_or(std::numeric_limits<double>::infinity());
  const BundledTarget here = bundled_target(target);
  for (const Entry& candidate : candidates) {
    const BundledTask& other = *candidate.task;
    for (const BundledSchedule& schedule : other.best) {
      if (chosen.size() == most) return chosen;
      auto trace = schedule::parse_trace(schedule.trace);
      if (!trace.ok()) continue;
      const auto us = predict_us(task, *trace, target);
      const bool measured = other.key == task.key && other.target == here;
      if (!us || (!measured && *us > default_us)) continue;
      const bool repeated =
          std::any_of(chosen.begin(), chosen.end(), [&](const ShippedSchedule& s) {
            return schedule::hash(s.trace) == schedule::hash(*trace);
          });
      if (repeated) continue;
      const std::string algorithm = schedule::algorithm_of(*trace);
      chosen.push_back({.trace = std::move(*trace),
                        .algorithm = algorithm,
                        .time_us = schedule.time_us,
                        .same_task = other.key == task.key,
                        .measured = measured && other.weights == task.weights,
                        .task = other.name,
                        .target = to_string(other.target)});
    }
  }
  return chosen;
}

}  // namespace attune::model
