#include "compiler/model/compile.h"

#include <utility>

#include "base/check.h"
#include "compiler/model/steps.h"
#include "runtime/format/artifact.h"

namespace attune::model {

Result<ModelTasks> prepare_tasks(graph::Graph graph, const CompileOptions& options) {
  Compilation compilation{.options = options, .graph = std::move(graph)};
  ATTUNE_RETURN_IF_ERROR(run_steps(task_steps(), compilation));
  return std::move(compilation.own_tasks);
}

Result<std::vector<Schedule>> choose_schedules(const ModelTasks& tasks,
                                               const CompileOptions& options) {
  Compilation compilation{.options = options, .tasks = &tasks};
  ATTUNE_RETURN_IF_ERROR(run_steps(schedule_steps(), compilation));
  return std::move(compilation.schedules);
}

Result<CompiledModel> compile_tasks(const ModelTasks& tasks, std::vector<Schedule> schedules,
                                    const CompileOptions& options) {
  CHECK(schedules.size() == tasks.distinct.size(), "every task has a schedule");
  Compilation compilation{.options = options, .tasks = &tasks, .schedules = std::move(schedules)};
  ATTUNE_RETURN_IF_ERROR(run_steps(code_steps(), compilation));
  return std::move(compilation.model);
}

Result<codegen::Module> kernels_of(const CompiledModel& model, const target::Target& target) {
  codegen::Module module;
  std::vector<codegen::KernelObject> objects;
  for (const SharedKernel& kernel : model.kernels) {
    if (const auto& prepare = kernel->program.prepare) {
      ATTUNE_ASSIGN(kernel::Kernel compiled, kernel::compile(*prepare, target));
      objects.push_back(std::move(compiled.object));
    }
    objects.push_back(kernel->main.object);
  }
  for (const codegen::KernelObject& object : objects) module.kernels.push_back(object.entry);
  ATTUNE_ASSIGN(module.code, kernel::link(objects, target));
  return module;
}

Status write(const CompiledModel& model, const std::string& path, const runtime::SignBytes& sign) {
  runtime::ArtifactContents contents{model.plan, model.weights.pieces(), {}};
  for (const auto& object : model.objects) contents.objects.emplace_back(object);
  return runtime::write_artifact(path, contents, sign);
}

}  // namespace attune::model
