#include "tuner/whole_model/tuned_model.h"

#include <fmt/format.h>

#include "base/clock.h"
#include "tuner/whole_model/contest/side_by_side.h"
#include "tuner/whole_model/other_tasks.h"

namespace attune::whole_model {

Result<TunedModel> load_tuned_model(const TuneOptions& options, const Clock& clock) {
  const std::int64_t start = clock.now_ns();
  TunedModel tuned;
  ATTUNE_ASSIGN(tuned.model, model::load_source(options.model, "is compiled already",
                                                "name the model that it was compiled from"));
  if (!tuned.model.facts.contest && (!options.output.empty() || options.sign)) {
    return unsupported(
        fmt::format("tuning an operator writes no artifact, so that {} has no meaning",
                    options.sign ? "--sign" : "--output"),
        "leave it out; the result is in the records");
  }
  ATTUNE_ASSIGN(tuned.inputs, contest_inputs(tuned.model, options.inputs));
  ATTUNE_RETURN_IF_ERROR(open_history(options.history));
  tuned.seconds = seconds_between(start, clock.now_ns());
  return tuned;
}

Result<TunedModel> load_tuned_model(const TuneOptions& options, TuningResources& resources) {
  TunedModel tuned;
  ATTUNE_RETURN_IF_ERROR(resources.run_stage("load", session::Resource::HostCores, [&]() -> Status {
    ATTUNE_ASSIGN(tuned, load_tuned_model(options, resources.clock()));
    return {};
  }));
  return tuned;
}

}  // namespace attune::whole_model
