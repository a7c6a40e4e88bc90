#include "app/verbs/emitted_stages.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "base/nearest.h"
#include "compiler/graph/passes/passes.h"
#include "compiler/ir/text/print.h"
#include "compiler/kernel/kernel.h"
#include "compiler/model/steps.h"

namespace attune::verbs {
namespace {

// Of a task: its program and schedule, what lowering makes of them for one target or another, and
// the code. "loops" is what the last pass leaves.
std::vector<std::string> task_stages() {
  std::vector<std::string> names = {"te", "trace", "nests"};
  const auto add = [&](std::string_view name) {
    if (std::find(names.begin(), names.end(), name) == names.end()) names.emplace_back(name);
  };
  for (const codegen::CodeGenerator* generator : kernel::code_generators()) {
    for (const lower::Pass& pass : generator->pipeline()) add(pass.name);
  }
  add("loops");
  for (const codegen::CodeGenerator* generator : kernel::code_generators()) {
    for (const codegen::TextForm& form : generator->texts) add(form.name);
  }
  return names;
}

// All stages there are, in the order in which they happen.
std::vector<std::string> stage_names() {
  std::vector<std::string> names;
  for (const graph::Pass& pass : graph::passes()) names.emplace_back(pass.name);
  names.emplace_back("graph");
  for (const model::Step& step : model::task_steps()) names.emplace_back(step.name);
  for (const model::Step& step : model::schedule_steps()) names.emplace_back(step.name);
  names.emplace_back("look");
  for (std::string& name : task_stages()) names.push_back(std::move(name));
  for (const model::Step& step : model::code_steps()) names.emplace_back(step.name);
  return names;
}

Status emit_task(const graph::Task& task, const model::Schedule& schedule,
                 const target::Target& target, EmittedStages& stages) {
  const ir::Program& program = *model::program_of(task, schedule.algorithm);
  stages.add("te", ir::to_string(program));
  stages.add("trace", schedule::to_string(schedule.trace));
  const auto observe = [&](std::string_view pass, const ir::Kernel& kernel) {
    stages.add(pass, ir::to_string(kernel));
  };
  const auto lowered = kernel::lower(program, schedule.trace, target, observe);
  if (!lowered.ok()) return lowered.error();
  const auto& [main, prepare] = *lowered;
  for (const kernel::LoweredKernel* kernel : {prepare ? &*prepare : nullptr, &main}) {
    if (kernel == nullptr) continue;
    stages.add("loops", ir::to_string(kernel->loops));
    for (const codegen::TextForm& form : kernel::code_generator_of(target).texts) {
      if (!stages.wants(form.name)) continue;
      const auto text = form.text(kernel->loops, target);
      if (!text.ok()) return text.error();
      stages.add(form.name, *text);
    }
  }
  return {};
}

}  // namespace

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

bool EmittedStages::wants(std::string_view name) const {
  return std::find(wanted_.begin(), wanted_.end(), name) != wanted_.end();
}

void EmittedStages::add(std::string_view name, const std::string& text) {
  if (!wants(name)) return;
  for (EmittedStage& stage : stages_) {
    if (stage.name != name) continue;
    stage.text += "\n" + text;
    return;
  }
  stages_.push_back({std::string(name), text});
}

std::vector<EmittedStage> EmittedStages::take() {
  const std::vector<std::string> order = stage_names();
  const auto place = [&](const EmittedStage& stage) {
    return std::find(order.begin(), order.end(), stage.name) - order.begin();
  };
  std::stable_sort(stages_.begin(), stages_.end(),
                   [&](const auto& a, const auto& b) { return place(a) < place(b); });
  return std::move(stages_);
}

Status emit_tasks(const model::ModelTasks& tasks, const std::vector<model::Schedule>& schedules,
                  const target::Target& target, EmittedStages& stages) {
  const std::vector<std::string> names = task_stages();
  if (std::none_of(names.begin(), names.end(),
                   [&](const std::string& name) { return stages.wants(name); })) {
    return {};
  }
  for (std::size_t i = 0; i < tasks.distinct.size(); ++i) {
    const graph::Task& task = tasks.distinct[i];
    if (tasks.distinct.size() > 1) {
      for (const std::string& name : names) {
        stages.add(name, fmt::format("// {} {}", task.key, task.name));
      }
    }
    ATTUNE_RETURN_IF_ERROR(emit_task(task, schedules[i], target, stages));
  }
  return {};
}

}  // namespace attune::verbs
