#include "app/api/model.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "base/nearest.h"
#include "compiler/frontend/zoo/zoo.h"
#include "compiler/ops/forms/family.h"
#include "runtime/affinity.h"
#include "targets/kinds.h"
#include "tuner/measure/probe/machine.h"

namespace attune::api {
namespace {

// What is neither an operator spec nor, as the caller has seen, a model: those have no keys, so
// that a misspelt operator is told apart from them.
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
  if (std::filesystem::exists(text, ignored) || zoo::has(text)) {
    return invalid(fmt::format("'{}' is not an operator spec", text),
                   "name an operator, e.g. matmul:m=1024,n=1024,k=1024");
  }
  const std::string guess = nearest(text, zoo::names());
  return invalid(fmt::format("there is no model, file or operator '{}'", text),
                 fmt::format("{}'attune zoo' lists the models; an operator is written like "
                             "matmul:m=1024,n=1024,k=1024",
                             guess.empty() ? "" : fmt::format("did you mean '{}'? ", guess)));
}

Result<target::Target> resolve(const ModelOptions& options) {
  ATTUNE_ASSIGN(target::Target target, targets::parse(options.target));
  if (options.threads > 0) target.threads = options.threads;
  return targets::resolve(target);
}

}  // namespace

Result<Algorithm> OperatorModel::algorithm_of(const schedule::Trace& trace) const {
  if (trace.empty()) return algorithms.front();
  const auto* step = std::get_if<schedule::Algorithm>(&trace.front());
  if (step == nullptr) return algorithms.front();
  std::string names;
  for (const Algorithm& algorithm : algorithms) {
    if (algorithm.name == step->name) return algorithm;
    names += (names.empty() ? "" : ", ") + algorithm.name;
  }
  return invalid(fmt::format("the schedule asks for algorithm '{}', which {} does not have",
                             step->name, task.family),
                 fmt::format("its algorithms are {}", names));
}

Result<OperatorModel> load_model(const ModelOptions& options) {
  if (names_nothing(options.model)) return unknown_model(options.model);
  OperatorModel model;
  ATTUNE_ASSIGN(model.target, resolve(options));
  ATTUNE_ASSIGN(model.task, op_spec::parse_op_spec(options.model, model.target));
  model.algorithms.push_back(
      {"direct", std::make_shared<ir::Program>(model.task.program), model.task.tolerance});
  for (const ops::AlgorithmDef& other : model.task.alternatives) {
    model.algorithms.push_back(
        {other.name, std::make_shared<ir::Program>(other.program), other.tolerance});
  }
  const std::string& asked = model.task.algorithm;
  if (options.exact && asked != "auto" && asked != "direct") {
    return invalid(
        fmt::format("--exact allows direct algorithms only, but algo={} is asked for", asked),
        "leave out one of the two");
  }
  for (const Algorithm& algorithm : model.algorithms) {
    const bool wanted =
        options.exact ? algorithm.name == "direct" : asked == "auto" || asked == algorithm.name;
    if (wanted) model.allowed.push_back(algorithm.name);
  }
  if (model.allowed.empty()) {
    return unsupported(fmt::format("algorithm '{}' does not fit {}", asked, model.task.spec),
                       "leave algo out to let all that fit compete");
  }
  return model;
}

Status check_runs_here(const target::Target& target) {
  return check_runs_on(target, static_cast<int>(runtime::allowed_cores().size()));
}

Status check_runs_on(const target::Target& target, int cores) {
  ATTUNE_RETURN_IF_ERROR(targets::kind_of(target).check_runs_here(target));
  return check_threads(target.threads, cores);
}

Status check_threads(int threads) {
  return check_threads(threads, static_cast<int>(runtime::allowed_cores().size()));
}

Status check_threads(int threads, int cores) {
  if (threads <= cores) return {};
  return invalid(fmt::format("{} threads are asked for, but this process may use {} {}", threads,
                             cores, cores == 1 ? "core" : "cores"),
                 fmt::format("choose --threads {} or fewer", cores));
}

Status check_fits_memory(const OperatorModel& model, Purpose purpose) {
  constexpr double kInterpretedBytes = 9;  // of an element: a value and whether it is there
  double bytes = 0;
  const auto add = [&](const ir::Buffer& buffer) {
    const auto elements = static_cast<double>(ir::element_count(*buffer));
    bytes += elements * static_cast<double>(buffer->type.element_bytes());
    if (purpose == Purpose::Tune) bytes += elements * kInterpretedBytes;
  };
  for (const ir::Input& input : model.task.program.inputs) add(input.buffer);
  if (purpose == Purpose::Run) {
    for (const ir::Buffer& output : model.task.program.outputs) add(output);
  } else {
    for (const ir::Stage& stage : model.task.program.stages) {
      for (const ir::Buffer& output : stage.outputs) add(output);
    }
  }
  const auto memory = static_cast<double>(probe::describe_machine().memory_bytes);
  constexpr double kGib = 1 << 30;
  if (memory <= 0 || bytes <= memory) return {};
  return Error{ErrorCode::Exhausted,
               fmt::format("{} {} needs about {:.1f} GiB of memory, this machine has {:.1f} GiB",
                           purpose == Purpose::Tune ? "tuning" : "running", model.task.spec,
                           bytes / kGib, memory / kGib),
               "choose smaller sizes"};
}

}  // namespace attune::api
