#include "app/api/compile.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/atomic_file.h"
#include "base/nearest.h"
#include "compiler/ir/print.h"
#include "compiler/kernel/kernel.h"

namespace attune::api {
namespace {

// All stages there are, in the order in which they happen. "loops" is what the last pass leaves.
std::vector<std::string> stage_names() {
  std::vector<std::string> names = {"te", "trace", "nests"};
  for (const lower::Pass& pass : lower::vector_pipeline()) names.emplace_back(pass.name);
  names.insert(names.end(), {"loops", "llvm", "asm"});
  return names;
}

Status check_emit(const std::vector<std::string>& emit) {
  const std::vector<std::string> known = stage_names();
  for (const std::string& name : emit) {
    if (std::find(known.begin(), known.end(), name) != known.end()) continue;
    const std::string guess = nearest(name, known);
    return invalid(fmt::format("there is no stage '{}' to emit", name),
                   fmt::format("{}the stages are {}",
                               guess.empty() ? "" : fmt::format("did you mean '{}'? ", guess),
                               fmt::join(known, ", ")));
  }
  return {};
}

// The texts of stages, kept in the order of stage_names().
class Stages {
 public:
  explicit Stages(const std::vector<std::string>& wanted) : wanted_(wanted) {}

  bool wants(std::string_view name) const {
    return std::find(wanted_.begin(), wanted_.end(), name) != wanted_.end();
  }
  // A kernel of its own adds to what the one before it printed.
  void add(std::string_view name, const std::string& text) {
    if (!wants(name)) return;
    for (EmittedStage& stage : stages_) {
      if (stage.name != name) continue;
      stage.text += "\n" + text;
      return;
    }
    stages_.push_back({std::string(name), text});
  }
  std::vector<EmittedStage> take() {
    const std::vector<std::string> order = stage_names();
    const auto place = [&](const EmittedStage& stage) {
      return std::find(order.begin(), order.end(), stage.name) - order.begin();
    };
    std::stable_sort(stages_.begin(), stages_.end(),
                     [&](const auto& a, const auto& b) { return place(a) < place(b); });
    return std::move(stages_);
  }

 private:
  const std::vector<std::string>& wanted_;
  std::vector<EmittedStage> stages_;
};

Result<std::vector<ir::Kernel>> lower_kernels(const KnownSchedule& known,
                                              const target::Target& target, Stages& stages) {
  const auto observe = [&](std::string_view pass, const ir::Kernel& kernel) {
    stages.add(pass, ir::to_string(kernel));
  };
  ATTUNE_ASSIGN(kernel::LoweredProgram lowered,
                kernel::lower(*known.algorithm.program, known.trace, target, observe));
  std::vector<ir::Kernel> kernels;
  if (lowered.prepare) kernels.push_back(std::move(lowered.prepare->loops));
  kernels.push_back(std::move(lowered.main.loops));
  return kernels;
}

}  // namespace

Result<CompileReport> compile(const CompileOptions& options) {
  ATTUNE_RETURN_IF_ERROR(check_emit(options.emit));
  ATTUNE_ASSIGN(const OperatorModel model, load_model(options.model));
  ATTUNE_ASSIGN(const KnownSchedule known, known_schedule(model, options.schedule));
  const codegen::CodeGenerator& generator = kernel::code_generator_of(model.target);
  Stages stages(options.emit);
  stages.add("te", ir::to_string(*known.algorithm.program));
  stages.add("trace", schedule::to_string(known.trace));
  ATTUNE_ASSIGN(const std::vector<ir::Kernel> kernels, lower_kernels(known, model.target, stages));
  for (const ir::Kernel& kernel : kernels) {
    stages.add("loops", ir::to_string(kernel));
    for (const codegen::TextForm& form : generator.texts) {
      if (!stages.wants(form.name)) continue;
      ATTUNE_ASSIGN(const std::string text, form.text(kernel, model.target));
      stages.add(form.name, text);
    }
  }
  ATTUNE_ASSIGN(const codegen::Module module, kernel::compile_module(kernels, model.target));
  if (!options.output.empty()) {
    const std::string_view bytes(reinterpret_cast<const char*>(module.code.data()),
                                 module.code.size());
    ATTUNE_RETURN_IF_ERROR(write_file_atomically(options.output, bytes));
  }
  CompileReport report{.model = model.task.spec,
                       .target = model.target_text(),
                       .schedule_text = describe(known),
                       .stages = stages.take(),
                       .kernels = {},
                       .object_bytes = module.code.size(),
                       .compile_ms = module.compile_ms + module.link_ms};
  for (const codegen::KernelEntry& kernel : module.kernels) {
    report.kernels.push_back(kernel.symbol);
    report.vector_spills += kernel.vector_spills;
  }
  return report;
}

}  // namespace attune::api
