#include "compiler/model/load/model.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <set>

#include "base/clock.h"
#include "base/nearest.h"
#include "compiler/frontend/onnx/import.h"
#include "compiler/frontend/op_spec/op_spec.h"
#include "compiler/frontend/zoo/zoo.h"
#include "compiler/graph/frame.h"
#include "compiler/graph/passes/passes.h"
#include "compiler/kernel/element_type.h"
#include "compiler/kernel/kernel.h"
#include "compiler/model/ahead.h"
#include "compiler/model/text/model_text.h"
#include "runtime/format/artifact.h"
#include "runtime/memory/fill.h"
#include "runtime/memory/memory.h"
#include "targets/kinds.h"
#include "tuner/measure/probe/machine.h"
#include "tuner/tunings/tunings.h"

namespace attune::model {
namespace {

enum class ModelKind { Operator, Zoo, Onnx, Artifact };

// By what is written: a zoo name, a file that begins or is called like an artifact, a file (or a
// name that ends in .onnx), else an operator spec.
ModelKind kind_of_model(const std::string& text) {
  if (zoo::has(text)) return ModelKind::Zoo;
  if (!may_be_file(text)) return ModelKind::Operator;
  std::error_code ignored;
  const bool is_file = std::filesystem::is_regular_file(text, ignored);
  if (is_file && runtime::looks_like_artifact(text)) return ModelKind::Artifact;
  if (model_text::is_artifact_name(text)) return ModelKind::Artifact;
  return is_file || model_text::is_onnx_name(text) ? ModelKind::Onnx : ModelKind::Operator;
}

// What is neither an operator spec nor a model: those have no keys, so that a misspelt operator is
// told apart from them.
bool names_nothing(const std::string& text) {
  if (text.find(':') != std::string::npos) return false;
  const auto families = ops::families();
  return std::none_of(families.begin(), families.end(),
                      [&](const ops::Family& family) { return family.name == text; });
}

Error unknown_model(const std::string& text) {
  std::error_code ignored;
  if (std::filesystem::is_directory(text, ignored)) {
    return invalid(fmt::format("'{}' is a folder, not a model", text),
                   "only 'attune check' takes folders, of ONNX test cases");
  }
  const std::string guess = nearest(text, zoo::names());
  return invalid(fmt::format("there is no model, file or operator '{}'", text),
                 fmt::format("{}'attune zoo' lists the models; an operator is written like "
                             "matmul:m=1024,n=1024,k=1024",
                             guess.empty() ? "" : fmt::format("did you mean '{}'? ", guess)));
}

// Random contents, as the runner fills what it measures: by the place among the operands.
Result<ops::ConstantPtr> random_constant(const std::string& spec, const ops::TensorType& type,
                                         std::uint64_t seed, int index) {
  if (type.elements() == 1) return ops::filled_constant(type, 1);  // it is part of the task
  const auto bytes = static_cast<std::size_t>(type.bytes());
  const auto memory = static_cast<std::size_t>(probe::describe_machine().memory_bytes);
  if (memory > 0 && bytes > memory) {
    constexpr double kGib = 1 << 30;
    return Error{
        ErrorCode::Exhausted,
        fmt::format("the weights of {} take {:.1f} GiB of memory, this machine has {:.1f} "
                    "GiB",
                    spec, static_cast<double>(bytes) / kGib, static_cast<double>(memory) / kGib),
        "choose smaller sizes"};
  }
  ATTUNE_ASSIGN(runtime::Memory room, runtime::Memory::allocate(bytes));
  ATTUNE_ASSIGN(const runtime::DType element, kernel::element_type(type.dtype));
  runtime::fill(room.data(), element, type.elements(), seed, index);
  const auto owner = std::make_shared<const runtime::Memory>(std::move(room));
  const std::span contents(static_cast<const std::byte*>(owner->data()), bytes);
  return std::make_shared<const ops::Constant>(ops::Constant{type, contents, owner});
}

Result<ops::ConstantPtr> given_constant(const std::string& name, const ops::TensorType& wanted,
                                        const ops::ConstantPtr& given) {
  if (given->type == wanted) return given;
  return invalid(fmt::format("'{}' is {}, but {} is given", name, ops::to_string(wanted),
                             ops::to_string(given->type)));
}

// The allowed algorithms: those of `algo=` and --exact, which may contradict each other.
Result<Algorithms> algorithms_of(const op_spec::OpFacts& facts, bool exact) {
  const std::string& asked = facts.algorithm;
  if (exact && asked != "auto" && asked != "direct") {
    return invalid(
        fmt::format("--exact allows direct algorithms only, but algo={} is asked for", asked),
        "leave out one of the two");
  }
  if (exact) return Algorithms{"direct"};
  return Algorithms{asked == "auto" ? "" : asked};
}

bool has_cold_weights(const graph::Graph& graph, const target::Target& target,
                      ops::Precision precision) {
  std::set<graph::ValueId> used;
  std::size_t layers = 0;
  for (const graph::Node& node : graph.nodes) {
    bool has_weights = false;
    for (const graph::ValueId id : node.inputs) {
      if (id == graph::kNoValue || graph.value(id).constant == nullptr) continue;
      used.insert(id);
      has_weights = true;
    }
    layers += has_weights ? 1 : 0;
  }
  std::int64_t bytes = 0;
  for (const graph::ValueId id : used) {
    ops::TensorType type = graph.value(id).type;
    if (type.dtype == ir::kF32) type.dtype = ops::stored_type(precision);
    bytes += type.bytes();
  }
  return are_cold(bytes, layers, target);
}

// A spec is there to time its one operator as it is written, and nothing around it.
constexpr ModelFacts kFactsOfSpec{.contest = false,
                                  .budget = {.trials = kUsualTrials, .seconds = {}},
                                  .form = OutputForm::Object,
                                  .one_task = true,
                                  .times_kernels = true,
                                  .random_constants = true,
                                  .takes_shapes = false,
                                  .takes_operands = true};

// All but those that lower the precision.
std::vector<std::string> rewriting_passes() {
  std::vector<std::string> names;
  for (const graph::Pass& pass : graph::passes()) {
    if (!pass.last) names.emplace_back(pass.name);
  }
  return names;
}

// Every tensor of the one task of a spec is there at once; tuning also has the interpreter's
// copies.
void add_memory(LoadedModel& model) {
  constexpr double kInterpretedBytes = 9;  // of an element: a value and whether it is there
  for (const graph::Value& value : model.graph.values) {
    const auto held = static_cast<double>(graph::physical_bytes(value));
    model.run_bytes += held;
    model.tune_bytes +=
        held + kInterpretedBytes * held / static_cast<double>(value.type.dtype.element_bytes());
  }
}

Status load_operator(const ModelOptions& options, LoadedModel& model) {
  if (options.precision && ops::is_narrow(*options.precision)) {
    return invalid(fmt::format("'{}' is an operator, which says its type itself", options.model),
                   fmt::format("write dtype={} in it instead of --precision",
                               ops::name_of(*options.precision)));
  }
  const auto make_constant = [&](std::string_view name, const ops::TensorType& type,
                                 int index) -> Result<ops::ConstantPtr> {
    const auto given = options.constants.find(name);
    if (given != options.constants.end()) {
      return given_constant(given->first, type, given->second);
    }
    return random_constant(options.model, type, options.seed, index);
  };
  auto op = op_spec::parse_op_graph(options.model, model.target, make_constant);
  if (!op.ok()) return op.error();
  auto algorithms = algorithms_of(op->facts, options.exact);
  if (!algorithms.ok()) return algorithms.error();
  model.algorithms = std::move(*algorithms);
  model.facts = kFactsOfSpec;
  model.name = op->facts.spec;
  double tolerance = op->facts.tolerance;
  if (model.precision == ops::Precision::TF32) {
    tolerance = std::max(tolerance, ops::tolerance_of(model.precision, 1));
  }
  model.task_facts = {{op->facts.spec, op->facts.flops, tolerance}};
  model.disabled_passes = rewriting_passes();
  model.graph = std::move(op->graph);
  model.former_program = std::move(op->own);
  model.cold_weights = has_cold_weights(model.graph, model.target, model.precision);
  add_memory(model);
  return {};
}

Result<onnx_proto::ModelFile> open_model(const std::string& text, ModelKind kind) {
  if (kind == ModelKind::Zoo) return zoo::open(text);
  return onnx_proto::read_model(text);
}

Status import_graph(const ModelOptions& options, ModelKind kind, LoadedModel& model,
                    std::vector<std::string>* needed) {
  auto file = open_model(options.model, kind);
  if (!file.ok()) return file.error();
  onnx::ImportOptions import;
  import.shapes = options.shapes;
  import.constants = options.constants;
  import.maxima = options.maxima;
  import.folding.run_host = run_host_on_constants;
  if (options.without_folding) import.folding.largest_result = 1;
  onnx::ImportReport report;
  auto graph = onnx::import_model(*file, import, &report);
  if (needed != nullptr) *needed = report.needed_constants;
  if (!graph.ok()) return graph.error();
  model.graph = std::move(*graph);
  model.cold_weights = has_cold_weights(model.graph, model.target, model.precision);
  model.name = std::filesystem::path(options.model).stem().string();
  if (options.exact) model.algorithms = {"direct"};
  return {};
}

}  // namespace

bool may_be_file(const std::string& text) {
  std::error_code ignored;
  return !zoo::has(text) &&
         (model_text::is_written_as_file(text) || std::filesystem::exists(text, ignored));
}

Result<LoadedModel> load_model(const ModelOptions& options, std::vector<std::string>* needed) {
  const ModelKind kind = kind_of_model(options.model);
  LoadedModel model;
  if (kind == ModelKind::Onnx || kind == ModelKind::Artifact) model.file = options.model;
  if (kind == ModelKind::Artifact) {
    model.is_artifact = true;
    model.name = std::filesystem::path(options.model).stem().string();
    return model;
  }
  if (kind == ModelKind::Operator && names_nothing(options.model)) {
    return unknown_model(options.model);
  }
  ATTUNE_ASSIGN(model.target, resolve_target(options));
  model.defaults = options.defaults;
  model.precision = precision_on(model.target, options.precision.value_or(ops::Precision::F32));
  const SteadyClock clock;
  const std::int64_t start = clock.now_ns();
  ATTUNE_RETURN_IF_ERROR(kind == ModelKind::Operator ? load_operator(options, model)
                                                     : import_graph(options, kind, model, needed));
  model.import_ms = seconds_between(start, clock.now_ns()) * 1e3;
  return model;
}

Result<LoadedModel> as_source(LoadedModel model, std::string_view which, std::string_view instead,
                              ErrorCode code) {
  if (!model.is_artifact) return model;
  return Error{code, fmt::format("'{}' is an artifact, which {}", model.file, which),
               std::string(instead)};
}

Result<LoadedModel> load_source(const ModelOptions& options, std::string_view which,
                                std::string_view instead, ErrorCode code) {
  ATTUNE_ASSIGN(LoadedModel model, load_model(options));
  return as_source(std::move(model), which, instead, code);
}

Result<LoadedModel> with_threads(LoadedModel model, ModelOptions options, int threads) {
  options.threads = threads;
  ATTUNE_ASSIGN(model.target, resolve_target(options));
  return model;
}

ops::Precision precision_on(const target::Target& target, ops::Precision asked) {
  const target::Kind& kind = targets::kind_of(target);
  const bool has_tf32 = kind.has_tf32 != nullptr && kind.has_tf32(target);
  return asked == ops::Precision::TF32 && !has_tf32 ? ops::Precision::F32 : asked;
}

bool are_cold(std::int64_t weight_bytes, std::size_t layers, const target::Target& target) {
  // What other layers move goes through the last cache too, and algorithms with fewer
  // multiplications have more weights. A single layer finds what it left there.
  return weight_bytes > target.l3_bytes / (layers > 1 ? 3 : 1);
}

CompileOptions compile_options(const LoadedModel& model, const ModelOptions& options) {
  CompileOptions compile;
  compile.target = model.target;
  compile.name = model.name;
  compile.algorithms = model.algorithms;
  compile.cold_weights = model.cold_weights;
  compile.defaults = model.defaults;
  compile.precision = model.precision;
  compile.task_facts = model.task_facts;
  compile.maxima = options.maxima;
  compile.disabled_passes = model.disabled_passes;
  compile.disabled_passes.insert(compile.disabled_passes.end(), options.disabled_passes.begin(),
                                 options.disabled_passes.end());
  if (options.without_folding) compile.disabled_passes.emplace_back("fold_constants");
  return compile;
}

bool holds_artifact(const std::string& path) { return runtime::looks_like_artifact(path); }

std::string artifact_name(const std::string& model) {
  return std::filesystem::path(model).stem().string() + ".attune";
}

Result<target::Target> resolve_target(const ModelOptions& options) {
  ATTUNE_ASSIGN(target::Target target, targets::parse(options.target));
  if (options.threads > 0) target.threads = options.threads;
  ATTUNE_RETURN_IF_ERROR(kernel::check_compiles(target));
  if (const auto tuning = tunings::find_tuning(target); !tuning.ok()) return tuning.error();
  return targets::resolve(target);
}

records::Weights weights_of(const graph::Task& task, bool cold) {
  const auto& inputs = task.op.program.inputs;
  const bool constants = std::any_of(inputs.begin(), inputs.end(),
                                     [](const ir::Input& input) { return input.constant; });
  return cold && constants && !task.repeats ? records::Weights::Cold : records::Weights::Hot;
}

}  // namespace attune::model
