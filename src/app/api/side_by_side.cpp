#include "app/api/side_by_side.h"

namespace attune::api {

Result<std::vector<Contestant>> load_side_by_side(const std::vector<std::string>& artifacts) {
  std::vector<RunnableModel> models;
  for (const std::string& path : artifacts) {
    SourceOptions source;
    source.model.model = path;
    ATTUNE_ASSIGN(RunnableModel model, load_runnable(source));
    models.push_back(std::move(model));
  }
  if (models.empty()) return std::vector<Contestant>();
  // One for all: where threads may run is asked for before this one is bound to a core.
  ATTUNE_ASSIGN(const auto pool, make_pool(models.front().threads, true));
  std::vector<Contestant> contestants;
  for (RunnableModel& model : models) {
    ATTUNE_ASSIGN(ModelSession session, ModelSession::create(model, pool));
    ATTUNE_ASSIGN(std::vector<runtime::Tensor> inputs, random_inputs(model.plan(), 1));
    contestants.push_back({std::move(model), std::move(session), std::move(inputs)});
  }
  return contestants;
}

}  // namespace attune::api
