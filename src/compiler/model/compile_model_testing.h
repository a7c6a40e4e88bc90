// Test support: a graph that no text names, compiled by the steps that loaded models go
// (load/prepared_model.h).
#pragma once

#include <utility>
#include <vector>

#include "base/result.h"
#include "compiler/model/compile.h"

namespace attune::model {

inline Result<CompiledModel> compile_model(graph::Graph graph, const CompileOptions& options) {
  ATTUNE_ASSIGN(ModelTasks tasks, prepare_tasks(std::move(graph), options));
  ATTUNE_ASSIGN(std::vector<Schedule> schedules, choose_schedules(tasks, options));
  ATTUNE_ASSIGN(CompiledModel model, compile_tasks(tasks, std::move(schedules), options));
  model.tasks = std::move(tasks);
  return model;
}

}  // namespace attune::model
