#include "tuner/whole_model/report/task_teller.h"

#include "tuner/session/session.h"

namespace attune::whole_model {

void TaskTeller::progressed(const session::Progress& p) {
  if (!progressed_) return;
  const bool limited_by_time = !options_.trials && options_.seconds;
  const bool ended = p.stage == session::name_of(session::StageKind::Confirm);
  TuneProgress progress{.stage = p.stage,
                        .round = p.round,
                        .stage_seconds = p.stage_seconds,
                        .trials = p.trials,
                        .latency_ms = p.best_us.value_or(0) * 1e-3,
                        .failures = p.failures,
                        .elapsed_seconds = seconds_between(start_ns_, clock_.now_ns()),
                        .left_seconds = p.eta_seconds,
                        .closing = p.round == session::kClosing};
  if (!limited_by_time) progress.trials_total = p.trials_total;
  progress.failed = failures_of(p.failed, p.key, p.task);
  progress.tasks.push_back(
      {.key = p.key,
       .name = p.task,
       .share = 1,
       .trials = p.trials,
       .best_us = p.best_us,
       .default_us = p.default_us,
       .best_gflops = p.best_gflops,
       .percent_of_peak = peak_gflops_ > 0 ? 100 * p.best_gflops / peak_gflops_ : 0,
       .model_quality = p.model_quality,
       .settled = ended,
       .left_seconds = p.eta_seconds});
  progressed_(progress);
}

}  // namespace attune::whole_model
