// Compiling a model: from its graph to all that an artifact holds.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "compiler/graph/graph.h"
#include "compiler/model/fallback.h"
#include "compiler/model/kernels.h"
#include "compiler/model/model_tasks.h"
#include "compiler/model/plan/weights.h"
#include "compiler/model/schedules/default_schedules.h"
#include "compiler/model/schedules/schedules.h"
#include "compiler/ops/precision.h"
#include "compiler/target/target.h"
#include "runtime/format/plan.h"
#include "runtime/format/signature.h"

namespace attune::model {

class KernelStore;

// What is known of a task before there is one.
struct TaskFacts {
  std::string name;
  double flops = 0;
  double tolerance = 0;  // of the direct algorithm
};

// What a step of compiling (steps.h), or a pass of the first of them, has done.
struct StepDone {
  std::string_view name;
  double ms = 0;
  std::size_t nodes = 0;  // of the graph; 0 when it has become tasks
  // What it left, for --emit; to be asked at once.
  std::function<std::string()> text = {};
};
using ObserveStep = std::function<void(const StepDone& step)>;

struct CompileOptions {
  target::Target target;  // resolved
  std::string name;       // of the model
  // Of tasks that the model has, and of those that it would have with other layouts. Default
  // schedules without it.
  ChooseSchedule choose = {};
  Algorithms algorithms = {};  // of default schedules
  bool cold_weights = false;   // they come from memory at every run: default schedules differ
  // Never null.
  std::shared_ptr<DefaultSchedules> defaults = std::make_shared<DefaultSchedules>();
  ops::Precision precision = ops::Precision::F32;
  // Of the tasks, in their order, as far as they do not follow from the graph.
  std::vector<TaskFacts> task_facts = {};
  // Told, before layouts are chosen, the tasks whose cost decides about them, one that moves a
  // value from one layout to another among them, should it want to measure what `choose` will say;
  // not called when there is nothing to decide.
  std::function<Status(const std::vector<graph::Task>&)> before_layouts = {};
  // Of the tasks compiled, for the same target; takes and gives kernels. None: all are compiled.
  std::shared_ptr<KernelStore> kernels = {};
  // The largest values of inputs that sizes follow from, by their names.
  std::map<std::string, std::vector<std::int64_t>, std::less<>> maxima = {};
  std::vector<std::string> disabled_passes = {};
  ObserveStep observe = {};
  std::function<void(std::size_t done, std::size_t all)> progress = {};

  Schedule default_of(const graph::Task& task) const {
    return defaults->of(task, target, algorithms, cold_weights);
  }
  Schedule schedule_of(const graph::Task& task) const {
    return choose ? choose(task) : default_of(task);
  }
};

struct CompiledModel {
  runtime::Plan plan;
  Weights weights;
  std::vector<std::vector<std::byte>> objects;
  std::vector<Schedule> schedules;    // of the distinct tasks
  std::vector<SharedKernel> kernels;  // likewise
  std::vector<Fallback> fallbacks;    // of those that did not get the schedule chosen for them
  ModelTasks tasks;
};

// The tasks of the graph after all passes, with layouts.
Result<ModelTasks> prepare_tasks(graph::Graph graph, const CompileOptions& options);
// Of the distinct tasks, in their order.
Result<std::vector<Schedule>> choose_schedules(const ModelTasks& tasks,
                                               const CompileOptions& options);
// The last steps only, with one schedule for each distinct task; what is returned has no tasks.
Result<CompiledModel> compile_tasks(const ModelTasks& tasks, std::vector<Schedule> schedules,
                                    const CompileOptions& options);

// Its kernels alone, each behind the one that prepares its constants on the target, for others to
// call.
Result<codegen::Module> kernels_of(const CompiledModel& model, const target::Target& target);

// As an artifact, signed if `sign` is given.
Status write(const CompiledModel& model, const std::string& path,
             const runtime::SignBytes& sign = {});

}  // namespace attune::model
