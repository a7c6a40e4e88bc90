#include "tuner/whole_model/contest/side_by_side.h"

namespace attune::whole_model {

constexpr std::uint64_t kSeed = 1;  // of random inputs

Result<model::ReadInputs> contest_inputs(const model::LoadedModel& model,
                                         const std::vector<model::NamedFile>& files) {
  if (model.facts.contest) return model::read_inputs(model, {.inputs = files});
  if (files.empty()) return model::ReadInputs();
  return unsupported("operators are tuned on random values, so that --input has no meaning",
                     "leave it out");
}

Result<std::vector<Contestant>> side_by_side(std::vector<model::RunnableModel> models,
                                             const model::ReadInputs& inputs) {
  if (models.empty()) return std::vector<Contestant>();
  // One for all: where threads may run is asked for before this one is bound to a core.
  ATTUNE_ASSIGN(const auto pool, model::make_pool(models.front().threads, true));
  std::vector<Contestant> contestants;
  for (model::RunnableModel& model : models) {
    ATTUNE_ASSIGN(model::ModelSession session, model::ModelSession::create(model, pool));
    ATTUNE_ASSIGN(std::vector<runtime::Tensor> own, model::inputs_for(model.plan(), inputs, kSeed));
    contestants.push_back({std::move(model), std::move(session), std::move(own)});
  }
  return contestants;
}

Result<std::vector<Contestant>> load_side_by_side(const std::vector<std::string>& artifacts,
                                                  const model::ReadInputs& inputs) {
  std::vector<model::RunnableModel> models;
  for (const std::string& path : artifacts) {
    model::SourceOptions source;
    source.model.model = path;
    ATTUNE_ASSIGN(model::RunnableModel model, model::load_runnable(source));
    models.push_back(std::move(model));
  }
  return side_by_side(std::move(models), inputs);
}

}  // namespace attune::whole_model
