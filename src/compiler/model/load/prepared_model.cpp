#include "compiler/model/load/prepared_model.h"

#include <utility>

namespace attune::model {

Result<PreparedModel> prepare_model(LoadedModel model, const SourceOptions& options) {
  PreparedModel prepared;
  prepared.compile = compile_options(model, options.model);
  prepared.compile.progress = options.progress;
  prepared.compile.observe = options.observe;
  ATTUNE_ASSIGN(prepared.compile.choose, known_schedules(model, options.schedule));
  ATTUNE_ASSIGN(prepared.tasks, prepare_tasks(std::exchange(model.graph, {}), prepared.compile));
  ATTUNE_RETURN_IF_ERROR(check_file(prepared.tasks, model, options.schedule));
  ATTUNE_ASSIGN(prepared.schedules, choose_schedules(prepared.tasks, prepared.compile));
  prepared.model = std::move(model);
  return prepared;
}

Result<CompiledModel> compile_prepared(PreparedModel prepared) {
  ATTUNE_ASSIGN(CompiledModel compiled,
                compile_tasks(prepared.tasks, std::move(prepared.schedules), prepared.compile));
  compiled.tasks = std::move(prepared.tasks);
  return compiled;
}

}  // namespace attune::model
