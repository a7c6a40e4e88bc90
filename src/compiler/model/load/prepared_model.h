// A model on its way to code: loaded, its graph cut into tasks, and for each task the schedule that
// it gets. What compiling, running and listing tasks have in common.
#pragma once

#include <functional>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "compiler/model/compile.h"
#include "compiler/model/load/model.h"
#include "compiler/model/schedules/known_schedule.h"
#include "runtime/format/signature.h"

namespace attune::model {

struct SourceOptions {
  ModelOptions model = {};
  ScheduleOptions schedule = {};
  runtime::VerifyBytes trust = {};  // whose artifacts are run; empty: anybody's
  std::function<void(std::size_t done, std::size_t all)> progress = {};  // of compiling
  ObserveStep observe = {};
};

struct PreparedModel {
  LoadedModel model = {};  // without its graph
  CompileOptions compile = {};
  ModelTasks tasks = {};
  std::vector<Schedule> schedules = {};  // of the distinct tasks
};

// A model that was loaded with the same options and is no artifact.
Result<PreparedModel> prepare_model(LoadedModel model, const SourceOptions& options);
// Compiled with these schedules; takes the tasks along.
Result<CompiledModel> compile_prepared(PreparedModel prepared);

}  // namespace attune::model
