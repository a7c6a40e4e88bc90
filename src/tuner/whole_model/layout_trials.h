// Default schedules of a model's convolutions, timed in every layout that is in question, and of
// moving a value from one layout to another, so that layouts are chosen by what was measured. The
// times go into the records, where compiling later finds them and chooses the same.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "compiler/model/load/model.h"
#include "compiler/model/schedules/schedules.h"
#include "tuner/measure/runner.h"
#include "tuner/records/store.h"

namespace attune::whole_model {

class TuningResources;

class LayoutTrials {
 public:
  // `use_records`: what is known already is not timed again.
  LayoutTrials(const model::LoadedModel& model, bool use_records, records::Store& store,
               TuningResources& resources);

  // On host cores and, for the measuring, on the device.
  Status time(const std::vector<graph::Task>& tasks);
  // The default schedule, with its time if it was measured.
  model::Schedule schedule_of(const graph::Task& task) const;

 private:
  Status time_one(const graph::Task& task, const model::Schedule& schedule,
                  const measure::BuiltCandidate& built, const measure::Expectation& expectation);

  const model::LoadedModel& model_;
  const bool use_records_;
  records::Store& store_;
  TuningResources& resources_;
  std::map<std::string, double> known_us_;  // by the key of the task
};

}  // namespace attune::whole_model
