// What a tuning run begins with: its model, loaded once, and what it reads where it is run whole.
#pragma once

#include "base/result.h"
#include "compiler/model/load/input_files.h"
#include "compiler/model/load/model.h"
#include "tuner/whole_model/tune.h"
#include "tuner/whole_model/tuning_resources.h"

namespace attune::whole_model {

struct TunedModel {
  model::LoadedModel model = {};
  model::ReadInputs inputs = {};
  double seconds = 0;  // that loading took; they are part of the run
};

// Whatever options contradict the model is said here, before anything is begun.
Result<TunedModel> load_tuned_model(const TuneOptions& options, const Clock& clock);
// The same as a stage of the run.
Result<TunedModel> load_tuned_model(const TuneOptions& options, TuningResources& resources);

}  // namespace attune::whole_model
