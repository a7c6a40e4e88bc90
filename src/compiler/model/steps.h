// The way of a model through the compiler, as one list of steps. Each takes what the one before
// left; each is timed, and what it leaves can be printed (`compile --emit NAME`). Importing comes
// before, looking between schedules and kernels, writing the artifact after: what `compile -v` and
// its report list.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "compiler/model/compile.h"
#include "compiler/model/kernels.h"

namespace attune::model {

// A model on its way.
struct Compilation {
  const CompileOptions& options;
  graph::Graph graph = {};
  ModelTasks own_tasks = {};               // made here,
  const ModelTasks* tasks = nullptr;       // or there before
  std::vector<Schedule> schedules = {};    // of the distinct tasks
  std::vector<SharedKernel> kernels = {};  // the same
  CompiledModel model = {};
};

struct Step {
  std::string_view name;
  std::string_view meaning;
  Status (*run)(Compilation& compilation);
  std::string (*text)(const Compilation& compilation);  // of what it left
};

// From the graph to the tasks, to their schedules, and from there to the compiled model.
std::span<const Step> task_steps();
std::span<const Step> schedule_steps();
std::span<const Step> code_steps();

// What the step of that name leaves.
std::string schedules_text(const ModelTasks& tasks, const std::vector<Schedule>& schedules);

// One after the other; observers are told.
Status run_steps(std::span<const Step> steps, Compilation& compilation);

}  // namespace attune::model
