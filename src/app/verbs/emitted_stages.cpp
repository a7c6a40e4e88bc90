#include "app/verbs/emitted_stages.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "app/verbs/stages.h"
#include "compiler/ir/text/print.h"
#include "compiler/kernel/kernel.h"

namespace attune::verbs {
namespace {

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
  const std::vector<Stage> order = verbs::stages();
  const auto place = [&](const EmittedStage& stage) {
    return std::find_if(order.begin(), order.end(),
                        [&](const Stage& each) { return each.name == stage.name; }) -
           order.begin();
  };
  std::stable_sort(stages_.begin(), stages_.end(),
                   [&](const auto& a, const auto& b) { return place(a) < place(b); });
  return std::move(stages_);
}

Status emit_tasks(const model::ModelTasks& tasks, const std::vector<model::Schedule>& schedules,
                  const target::Target& target, EmittedStages& stages) {
  std::vector<std::string_view> names;
  for (const Stage& stage : verbs::stages()) {
    if (stage.of_tasks && stages.wants(stage.name)) names.push_back(stage.name);
  }
  if (names.empty()) return {};
  for (std::size_t i = 0; i < tasks.distinct.size(); ++i) {
    const graph::Task& task = tasks.distinct[i];
    if (tasks.distinct.size() > 1) {
      for (const std::string_view name : names) {
        stages.add(name, fmt::format("// {} {}", task.key, task.name));
      }
    }
    ATTUNE_RETURN_IF_ERROR(emit_task(task, schedules[i], target, stages));
  }
  return {};
}

}  // namespace attune::verbs
