// Whole models: what the user names (a file, a name of the zoo) as a graph, and compiled.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "app/api/known_schedule.h"
#include "app/api/model.h"
#include "app/deploy/compile.h"
#include "compiler/graph/graph.h"
#include "tuner/records/record.h"

namespace attune::api {

enum class ModelKind { Operator, Zoo, Onnx, Artifact };
// By what is written: a zoo name, a file that begins like an artifact, a file (or a name that ends
// in .onnx), else an operator spec.
ModelKind kind_of_model(const std::string& text);

using Constants = std::map<std::string, ops::ConstantPtr, std::less<>>;

struct GraphOptions {
  ModelOptions model = {};
  Shapes shapes = {};
  // Inputs whose values are known while compiling.
  Constants constants = {};
  std::vector<std::string> disabled_passes = {};
  // Nothing but scalars is computed by the interpreter while compiling; what else depends on
  // constants alone is left to kernels that run ahead of time.
  bool without_folding = false;
};

struct GraphModel {
  std::string name = {};  // of the file or the zoo's model, without folder and suffix
  graph::Graph graph = {};
  target::Target target = {};  // resolved
};

// A model of the zoo or a file. `needed` (optional) receives the inputs that would have to be given
// as constants, when that is what the import failed for.
Result<GraphModel> load_graph(const GraphOptions& options,
                              std::vector<std::string>* needed = nullptr);

// "k=3", "sizes=64,48" or "sizes=FILE.npy": a value for an input that is fixed while compiling.
Result<std::pair<std::string, ops::ConstantPtr>> parse_constant(const std::string& text);

// NAME.attune for a model's file or name.
std::string artifact_name(const std::string& model);

Result<target::Target> resolve_target(const ModelOptions& options);

// "input=1,3,224,224"; names may hold ':' and '=', the list may be empty.
Result<std::pair<std::string, std::vector<std::int64_t>>> parse_shape(const std::string& text);

// Compiles with the best records of the stores that the options name, else default schedules.
deploy::CompileOptions compile_options(const GraphModel& model, const GraphOptions& options);
// The task as the bundle's look-up sees it; `task` must outlive it.
deploy::ScheduledTask scheduled_task(const graph::Task& task, const target::Target& target,
                                     bool exact, bool cold);
// What is known of a task: the schedule of its fastest record, else one that ships with the
// program, else the default one. Where the record is of the default one, what ships comes first
// unless it was tried.
struct KnownTask {
  deploy::Schedule schedule = {};
  std::optional<double> recorded_us = {};  // of the record; nothing: it is another schedule
};
// `cold`: see has_cold_weights().
Result<std::function<KnownTask(const graph::Task&)>> known_tasks(const target::Target& target,
                                                                 const ScheduleOptions& schedule,
                                                                 bool exact, bool cold);
// Their schedules alone.
Result<deploy::ChooseSchedule> known_schedules(const target::Target& target,
                                               const ScheduleOptions& schedule, bool exact,
                                               bool cold);

// Asked of a graph as it was loaded. Whether the weights of the model exceed the last cache, so
// that each run reads them from memory.
bool has_cold_weights(const graph::Graph& graph, const target::Target& target);
// How a task of such a model, or of another, is measured.
records::Weights weights_of(const graph::Task& task, bool cold);

}  // namespace attune::api
