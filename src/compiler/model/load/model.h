// What the user names, loaded: an ONNX file, a name of the zoo or an operator spec as a graph with
// its target, or an artifact as the file that it is. This is the one place that asks which of them
// a text means; all commands take what it gives.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "compiler/graph/graph.h"
#include "compiler/model/compile.h"
#include "compiler/model/load/model_facts.h"
#include "compiler/model/schedules/default_schedules.h"
#include "compiler/model/schedules/schedules.h"
#include "compiler/target/target.h"
#include "tuner/records/record.h"

namespace attune::model {

// Shapes of inputs by name: --shape NAME=1,3,224,224.
using Shapes = std::map<std::string, std::vector<std::int64_t>, std::less<>>;
using Constants = std::map<std::string, ops::ConstantPtr, std::less<>>;

struct ModelOptions {
  std::string model = {};                        // an operator spec, a file or a name of the zoo
  std::string target{target::kDefaultKind};      // by itself: this machine
  int threads = 0;                               // 0: as the target says, else all cores
  bool exact = false;                            // direct algorithms only
  std::optional<ops::Precision> precision = {};  // f32, unless given
  Shapes shapes = {};                            // of inputs of a file or a model of the zoo
  // Inputs whose values are known while compiling; of an operator also its weights.
  Constants constants = {};
  // The largest values that inputs will have which only bound a size: --max NAME=N.
  Shapes maxima = {};
  std::vector<std::string> disabled_passes = {};
  // Nothing but scalars is computed by the interpreter while compiling; what else depends on
  // constants alone is left to kernels that run ahead of time.
  bool without_folding = false;
  std::uint64_t seed = 0;  // of the weights of an operator, which are random
  // Never null. Who loads a model more than once gives the same one each time.
  std::shared_ptr<DefaultSchedules> defaults = std::make_shared<DefaultSchedules>();
};

struct LoadedModel {
  ModelFacts facts = {};
  std::string name = {};     // of a file or a model of the zoo, without folder and suffix; a spec
  std::string file = {};     // where it was read; empty: it has none
  bool is_artifact = false;  // compiled already: there is nothing but the file
  graph::Graph graph = {};
  double import_ms = 0;        // what it took to make that
  target::Target target = {};  // resolved
  Algorithms algorithms = {};
  ops::Precision precision = ops::Precision::F32;  // what the target has of the one asked for
  // Its weights exceed what the last cache keeps of them, so that each run reads them from memory.
  bool cold_weights = false;
  // What a spec says of its task, whose activations lie as the task takes them.
  std::vector<TaskFacts> task_facts = {};
  std::vector<std::string> disabled_passes = {};  // besides those that the user names
  ir::Program former_program = {};  // of the task, as earlier versions wrote it: former_task.h
  // What it is sure to need of this machine's memory, as far as that is known before it is cut.
  double run_bytes = 0, tune_bytes = 0;

  std::shared_ptr<DefaultSchedules> defaults = std::make_shared<DefaultSchedules>();

  std::string target_text() const { return target::to_string(target); }
  Schedule default_of(const graph::Task& task) const {
    return defaults->of(task, target, algorithms, cold_weights);
  }
};

// Whether a model's text may name a file or a folder, there or not: what no model of the zoo is
// called, and is written or found as one.
bool may_be_file(const std::string& text);

// `needed` (optional) receives the inputs that would have to be given as constants, when that is
// what the import of a file failed for.
Result<LoadedModel> load_model(const ModelOptions& options,
                               std::vector<std::string>* needed = nullptr);
// For what needs the graph: fails for an artifact, `which` says why and `instead` what to do.
Result<LoadedModel> as_source(LoadedModel model, std::string_view which, std::string_view instead,
                              ErrorCode code = ErrorCode::Unsupported);
// Both.
Result<LoadedModel> load_source(const ModelOptions& options, std::string_view which,
                                std::string_view instead, ErrorCode code = ErrorCode::Unsupported);

// What a resolved target has of a precision: tf32 is f32 where there are no units for it.
ops::Precision precision_on(const target::Target& target, ops::Precision asked);

// Whether so many bytes of weights, of so many layers that have some, come from memory at every
// run.
bool are_cold(std::int64_t weight_bytes, std::size_t layers, const target::Target& target);

// The same model for another number of threads than these options gave.
Result<LoadedModel> with_threads(LoadedModel model, ModelOptions options, int threads);

// How the model is compiled, with default schedules.
CompileOptions compile_options(const LoadedModel& model, const ModelOptions& options);

// Whether the file is a model that was compiled already.
bool holds_artifact(const std::string& path);

// NAME.attune for a model's file or name.
std::string artifact_name(const std::string& model);

Result<target::Target> resolve_target(const ModelOptions& options);

// "input=1,3,224,224"; names may hold ':' and '=', the list may be empty.
Result<std::pair<std::string, std::vector<std::int64_t>>> parse_shape(const std::string& text);
// "k=3", "sizes=64,48" or "sizes=FILE.npy": a value for an input that is fixed while compiling.
Result<std::pair<std::string, ops::ConstantPtr>> parse_constant(const std::string& text);

// "k=10" or "sizes=640,480": how large an input will be at most.
Result<std::pair<std::string, std::vector<std::int64_t>>> parse_maximum(const std::string& text);

// How a task is measured, of a model with cold weights or of another.
records::Weights weights_of(const graph::Task& task, bool cold);

}  // namespace attune::model
