// Schedules without measuring: those that the analytic model predicts to be fastest, of all
// algorithms that a task has.
#include <algorithm>
#include <optional>
#include <utility>

#include "compiler/model/schedules/default_schedules.h"
#include "tuner/cost_model/descent.h"
#include "tuner/space/template_space.h"
#include "tuner/tunings/tunings.h"

namespace attune::model {
namespace {

// What another algorithm must promise before it is taken, as a share of the direct one's time. The
// model tells schedules of one algorithm apart better than algorithms: of what transforming
// operands costs it sees the less, the more multiplications that saves. Products of matrices, which
// have no windows and borders, it knows best.
constexpr double kOfProduct = 0.985, kOfDirect = 0.95, kForSaved = 0.1;
// What is hardly faster than the default of a template is not taken.
constexpr double kOfDefault = 0.95;
// Algorithms whose default is further behind than this are not looked at more closely.
constexpr double kFarBehind = 1.5;

// Multiplications of a program's anchor.
double multiplications(const ir::Program& program) {
  const ir::Stage* anchor = program.find_stage("anchor");
  double count = 1;
  if (anchor == nullptr) return count;
  for (const ir::Axis& axis : anchor->axes) count *= static_cast<double>(axis.extent);
  for (const ir::Axis& axis : anchor->reduce_axes) count *= static_cast<double>(axis.extent);
  return count;
}

// The share of the direct algorithm's time that another one must promise.
double share_wanted(const ir::Program& direct, const ir::Program& other) {
  const ir::Stage* anchor = direct.find_stage("anchor");
  if (anchor != nullptr && anchor->reduce_axes.size() == 1) return kOfProduct;
  const double saved = 1 - multiplications(other) / multiplications(direct);
  return kOfDirect - kForSaved * std::max(0.0, saved);
}

// The default of an algorithm's template, and its fastest schedule, as the analytic model has it.
class Promise {
 public:
  Promise(const std::string& algorithm, const ir::Program& program, const target::Target& target,
          const tuning::Tuning& tuning, const cost_model::CostModel& model)
      : space_({{algorithm, program}}, tuning.templates(), target), model_(model) {
    const std::vector<space::Point> defaults = space_.defaults();
    if (defaults.empty()) return;
    const auto scheduled = space_.schedule_of(defaults.front());
    if (scheduled.ok()) default_us_ = model.predict_us(*scheduled);
  }

  // Nothing where the default is rejected.
  std::optional<double> default_us() const { return default_us_; }

  // Looks for the fastest one; its time.
  std::optional<double> find() {
    auto found = cost_model::fastest_predicted(space_, model_, 1);
    if (found.empty()) return std::nullopt;
    fastest_ = std::move(found.front());
    return fastest_->us;
  }

  // The one that was found, unless the default is as good.
  Schedule schedule() const {
    Schedule usual = recorded_schedule(space_.trace_of(space_.defaults().front()));
    usual.origin = Origin::Default;
    if (!fastest_ || (default_us_ && fastest_->us > kOfDefault * *default_us_)) return usual;
    Schedule promised = recorded_schedule(space_.trace_of(fastest_->point));
    promised.origin = Origin::Default;
    promised.otherwise = std::make_shared<const Schedule>(std::move(usual));
    return promised;
  }

 private:
  space::TemplateSpace space_;
  const cost_model::CostModel& model_;
  std::optional<double> default_us_;
  std::optional<cost_model::PredictedPoint> fastest_;
};

}  // namespace

Schedule usual_schedule(const graph::Task& task, const target::Target& target,
                        const Algorithms& algorithms) {
  Schedule chosen;
  if (program_of(task, algorithms.only) != nullptr) chosen.algorithm = algorithms.only;
  chosen.trace = tunings::default_trace(*program_of(task, chosen.algorithm), target);
  if (chosen.algorithm != "direct") {
    chosen.trace.insert(chosen.trace.begin(), schedule::Algorithm{chosen.algorithm});
  }
  return chosen;
}

Schedule default_schedule(const graph::Task& task, const target::Target& target,
                          const Algorithms& algorithms, bool cold_weights) {
  const Schedule usual = usual_schedule(task, target, algorithms);
  const auto tuning = tunings::find_tuning(target);
  if (!tuning.ok()) return usual;
  const auto model = (*tuning)->prior(target, cold_weights && !task.repeats);
  Promise best(usual.algorithm, *program_of(task, usual.algorithm), target, **tuning, *model);
  const std::optional<double> direct_us = best.find();
  if (!direct_us) return usual;
  Schedule chosen = best.schedule();
  if (!algorithms.only.empty()) return chosen;
  double least = *direct_us;
  for (const ops::AlgorithmDef& other : task.op.alternatives) {
    const double most = *direct_us * share_wanted(task.op.program, other.program);
    Promise promise(other.name, other.program, target, **tuning, *model);
    if (!promise.default_us() || *promise.default_us() > kFarBehind * most) continue;
    const std::optional<double> us = promise.find();
    if (!us || *us >= std::min(least, most)) continue;
    least = *us;
    chosen = promise.schedule();
  }
  return chosen;
}

Schedule DefaultSchedules::of(const graph::Task& task, const target::Target& target,
                              const Algorithms& algorithms, bool cold_weights) {
  const Key key{task.key, algorithms.only, target::to_string(target), cold_weights};
  {
    const std::lock_guard lock(mutex_);
    if (const auto known = schedules_.find(key); known != schedules_.end()) return known->second;
  }
  Schedule chosen = default_schedule(task, target, algorithms, cold_weights);
  const std::lock_guard lock(mutex_);
  if (schedules_.size() >= kMost) schedules_.clear();
  return schedules_.emplace(key, std::move(chosen)).first->second;
}

}  // namespace attune::model
