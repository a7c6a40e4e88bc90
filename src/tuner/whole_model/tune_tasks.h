// What a tuning run and its repetition have in common: the tasks of a model, each with its default
// schedule and the options of its session.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "compiler/model/compile.h"
#include "compiler/model/load/model.h"
#include "compiler/target/target.h"
#include "tuner/cost_model/history.h"
#include "tuner/session/run_model.h"
#include "tuner/session/session.h"
#include "tuner/tuning/tuning.h"
#include "tuner/whole_model/tune.h"

namespace attune::whole_model {

struct TunableTask {
  session::Task task;
  schedule::Trace untuned;
  session::Options options = {};
  session::TaskWeight weight = {};
  bool any_seed = false;  // no seed is asked for: what is resumed may have any
};

// Chooses the default schedules of all tasks, on all cores. They are remembered: whoever asks for
// one after the other should do this first.
void choose_defaults(const model::ModelTasks& tasks, const model::LoadedModel& model);

// `window`: rounds of a task alone that are under way at once.
std::vector<TunableTask> tunable_tasks(const model::ModelTasks& tasks,
                                       const model::LoadedModel& model, const TuneOptions& options,
                                       int window);

// How many rounds of a model are under way at once: one on the device, one that is built, and some
// between them, since rounds differ in what they take; one more for every two cores that build,
// since a round has few candidates, some of which take far longer than others. Where building and
// measuring take turns, few leave no core idle.
int model_window(const tuning::CorePlan& cores);

// Of as many cores, measured on those that measure.
Result<double> peak_gflops(TuningResources& resources, const target::Target& target);

Result<std::unique_ptr<session::Session>> open_session(
    const session::Context& context, const TunableTask& task, const target::Target& target,
    const explore::SearchOptions& search, std::shared_ptr<const cost_model::History> history);

}  // namespace attune::whole_model
