#include "tuner/whole_model/report/model_teller.h"

#include <algorithm>

namespace attune::whole_model {

std::optional<double> ModelTeller::left_seconds(std::int64_t trials, std::size_t tasks) const {
  const bool endless = options_.trials && !options_.seconds;
  if (!endless) {
    return std::max(0.0, options_.seconds.value_or(default_seconds_) - elapsed_seconds());
  }
  if (trials == 0) return std::nullopt;
  const auto done = static_cast<double>(trials);
  const double all = static_cast<double>(*options_.trials) * static_cast<double>(tasks);
  return std::max(0.0, all - done) * elapsed_seconds() / done;
}

void ModelTeller::forward(const session::ModelProgress& p) {
  if (!progressed_) return;
  const std::lock_guard lock(mutex_);
  TuneProgress progress{.task = p.task,
                        .stage = std::string(session::name_of(p.stage.kind)),
                        .round = p.stage.round,
                        .stage_seconds = p.stage_seconds,
                        .trials = p.trials,
                        .latency_ms = p.latency_us * 1e-3,
                        .failures = p.failures,
                        .elapsed_seconds = elapsed_seconds(),
                        .left_seconds = left_seconds(p.trials, p.tasks.size()),
                        .closing = p.closing};
  progress.failed = failures_of(p.failed, p.tasks[p.task].key, p.tasks[p.task].name);
  for (const session::TaskProgress& task : p.tasks) {
    progress.tasks.push_back({.key = task.key,
                              .name = task.name,
                              .share = task.share,
                              .trials = task.trials,
                              .best_us = task.best_us,
                              .default_us = task.default_us,
                              .model_quality = task.model_quality,
                              .settled = task.settled,
                              .left_seconds = task.left_seconds});
  }
  last_ = progress;
  progressed_(progress);
}

void ModelTeller::tell_whole(const char* name, bool begins, double seconds) {
  if (!progressed_) return;
  const std::lock_guard lock(mutex_);
  last_.of_whole = true;
  last_.begins = begins;
  last_.stage = name;
  last_.failed.clear();
  last_.stage_seconds = seconds;
  last_.elapsed_seconds = elapsed_seconds();
  last_.left_seconds = left_seconds(last_.trials, last_.tasks.size());
  progressed_(last_);
}

}  // namespace attune::whole_model
