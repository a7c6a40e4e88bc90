#include "tuner/whole_model/tuning_resources.h"

#include <utility>

#include "runtime/execution/affinity.h"
#include "runtime/execution/usable_cores.h"
#include "tuner/session/driver.h"
#include "tuner/tunings/tunings.h"
#include "tuner/whole_model/tune_tasks.h"

namespace attune::whole_model {

int TuningResources::cores() const { return static_cast<int>(runtime::allowed_cores().size()); }

Status TuningResources::take(std::string_view kind, session::Resource resource) {
  const session::Work work{.kind = kind, .resource = resource, .round = run_stages_++};
  const std::int64_t asked_ns = clock().now_ns();
  ATTUNE_RETURN_IF_ERROR(session::await_admission(work, admission(), dropped()));
  held_ = Held{work, clock().now_ns()};
  run_seconds_[kWaiting] += seconds_between(asked_ns, held_->start_ns);
  return {};
}

void TuningResources::give_back(const Status& status) {
  if (!held_) return;
  const Held held = *std::exchange(held_, std::nullopt);
  const double seconds = seconds_between(held.start_ns, clock().now_ns());
  run_seconds_[std::string(held.work.kind)] += seconds;
  admission().ended(held.work, seconds, status);
}

Status TuningResources::run_stage(std::string_view kind, session::Resource resource,
                                  const std::function<Status()>& work) {
  const std::optional<Held> outer = held_;
  give_back({});
  ATTUNE_RETURN_IF_ERROR(take(kind, resource));
  Status status = work();
  give_back(status);
  ATTUNE_RETURN_IF_ERROR(go_home());
  if (outer && status.ok()) return take(outer->work.kind, outer->work.resource);
  return status;
}

Status TuningResources::count(const std::string& kind, const std::function<Status()>& work) {
  const std::int64_t start_ns = clock().now_ns();
  Status status = work();
  run_seconds_[kind] += seconds_between(start_ns, clock().now_ns());
  return status;
}

Status LocalResources::open(const target::Target& target) {
  available_ = runtime::allowed_cores();
  ATTUNE_ASSIGN(const tuning::Tuning* tuning, tunings::find_tuning(target));
  cores_ = tuning->plan_cores(runtime::usable_cores(target.threads), target);
  ATTUNE_ASSIGN(runner_, tuning->start_runner({.target = target, .cores = cores_.measure}));
  builder_ = std::make_unique<builder::LocalBuilder>(
      builder::LocalBuilderOptions{.target = target, .cores = cores_.build});
  admission_ = std::make_unique<session::LocalAdmission>(session::Machine{
      .host_stages = static_cast<int>(cores_.build.size()), .shared = !cores_.overlap});
  return {};
}

int LocalResources::window() const { return model_window(cores_); }

Status LocalResources::aside(const std::function<Status()>& work) {
  ATTUNE_RETURN_IF_ERROR(runtime::pin_current_thread(cores_.build));
  const Status done = work();
  ATTUNE_RETURN_IF_ERROR(runtime::pin_current_thread(available_));
  return done;
}

}  // namespace attune::whole_model
