#include "compiler/model/compile.h"

#include <fmt/format.h>

#include <atomic>

#include "base/clock.h"
#include "compiler/graph/passes/passes.h"
#include "compiler/kernel/kernel.h"
#include "compiler/model/ahead.h"
#include "compiler/model/kernel_store.h"
#include "compiler/model/layout_choice.h"
#include "compiler/model/plan/device_plan.h"
#include "compiler/model/plan/plan_builder.h"
#include "targets/kinds.h"

namespace attune::model {
namespace {

// "conv2d_add_relu_1x64x56x56_3": profiles show it. Names of tasks begin with an operator.
std::string symbol_of(const graph::Task& task, std::size_t index) {
  constexpr std::size_t kLongest = 80;
  std::string symbol;
  for (const char c : task.name.substr(0, kLongest)) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    symbol += plain ? c : '_';
  }
  return fmt::format("{}_{}", symbol, index);
}

// All distinct tasks compiled; kernels get names that differ.
Result<std::vector<SharedKernel>> compile_all(const ModelTasks& tasks,
                                              const CompileOptions& options) {
  std::vector<SharedKernel> kernels(tasks.distinct.size());
  const auto store =
      options.kernels ? options.kernels : std::make_shared<KernelStore>(options.target);
  std::atomic<std::size_t> done{0};
  const Status status =
      run_parallel(kernels.size(), options.target.threads, [&](std::size_t i) -> Status {
        const graph::Task& task = tasks.distinct[i];
        const Schedule schedule = options.choose
                                      ? options.choose(task)
                                      : default_schedule(task, options.target, options.algorithms);
        auto compiled = store->kernel(task, schedule, symbol_of(task, i));
        if (!compiled.ok()) {
          return Error{compiled.error().code,
                       fmt::format("task '{}': {}", task.name, compiled.error().message),
                       compiled.error().hint};
        }
        kernels[i] = std::move(*compiled);
        if (options.progress) options.progress(++done, kernels.size());
        return {};
      });
  if (!status.ok()) return status.error();
  return kernels;
}

Status add_kernels(const std::vector<SharedKernel>& kernels, const target::Target& target,
                   CompiledModel& model) {
  std::vector<codegen::KernelObject> objects;
  for (const SharedKernel& task : kernels) {
    const codegen::KernelEntry& entry = task->main.object.entry;
    runtime::Kernel kernel{entry.symbol, 0, entry.workspace_bytes, {}};
    for (const kernel::Parameter& parameter : task->main.parameters) {
      kernel.arguments.push_back(
          {parameter.bytes(), parameter.kind == kernel::ParameterKind::Output});
    }
    model.plan.kernels.push_back(std::move(kernel));
    model.schedules.push_back(task->lowered.schedule);
    model.fallbacks.insert(model.fallbacks.end(), task->lowered.fallbacks.begin(),
                           task->lowered.fallbacks.end());
    objects.push_back(task->main.object);
  }
  if (objects.empty()) return {};
  auto linked = kernel::link(objects, target);
  if (!linked.ok()) return linked.error();
  model.objects.push_back(std::move(*linked));
  return {};
}

Result<graph::Graph> optimise(graph::Graph graph, const CompileOptions& options) {
  if (options.operator_facts) return graph;
  graph::PassOptions passes;
  passes.disabled = options.disabled_passes;
  passes.observe = options.observe;
  passes.context.run_host = run_host_on_constants;
  passes.context.exact = options.algorithms.exact();
  return graph::optimise(std::move(graph), passes);
}

// The graph after all passes, with layouts, ready to be cut into tasks.
Result<graph::Graph> prepare_graph(graph::Graph graph, const CompileOptions& options) {
  ATTUNE_ASSIGN(graph::Graph optimised, optimise(std::move(graph), options));
  ATTUNE_ASSIGN(AheadRunner ahead, AheadRunner::create(options.target));
  ATTUNE_ASSIGN(graph::Graph computed, compute_constants(optimised, ahead));
  const SteadyClock clock;
  const std::int64_t start = clock.now_ns();
  ATTUNE_ASSIGN(const graph::LayoutPlan layouts, choose_layouts(computed, options));
  graph::Graph result = graph::lay_out(computed, layouts).graph;
  ATTUNE_RETURN_IF_ERROR(graph::verify(result));
  if (options.observe) {
    options.observe("layouts", result, seconds_between(start, clock.now_ns()) * 1e3);
  }
  return result;
}

}  // namespace

Result<ModelTasks> prepare_tasks(graph::Graph graph, const CompileOptions& options) {
  ATTUNE_ASSIGN(graph::Graph prepared, prepare_graph(std::move(graph), options));
  ATTUNE_ASSIGN(ModelTasks tasks, collect_tasks(std::move(prepared)));
  if (!options.operator_facts) return tasks;
  CHECK(tasks.distinct.size() == 1, "an operator is one task");
  graph::Task& task = tasks.distinct.front();
  const std::string& only = options.algorithms.only;
  if (!only.empty() && program_of(task, only) == nullptr) {
    return unsupported(
        fmt::format("algorithm '{}' does not fit {}", only, options.operator_facts->name),
        "leave algo out to let all that fit compete");
  }
  task.name = options.operator_facts->name;
  task.op.flops = options.operator_facts->flops;
  task.op.tolerance = options.operator_facts->tolerance;
  return tasks;
}

Result<CompiledModel> compile_model(graph::Graph graph, const CompileOptions& options) {
  ATTUNE_ASSIGN(ModelTasks tasks, prepare_tasks(std::move(graph), options));
  ATTUNE_ASSIGN(CompiledModel model, compile_tasks(tasks, options));
  model.tasks = std::move(tasks);
  return model;
}

Result<CompiledModel> compile_tasks(const ModelTasks& tasks, const CompileOptions& options) {
  CompiledModel model;
  model.plan.model = options.name;
  model.plan.target = target::to_string(options.target);
  target::Requirements required = targets::kind_of(options.target).requirements(options.target);
  model.plan.device = options.target.kind;
  model.plan.architecture = std::move(required.architecture);
  model.plan.features = std::move(required.features);
  model.plan.threads = options.target.threads;
  ATTUNE_ASSIGN(const std::vector<SharedKernel> kernels, compile_all(tasks, options));
  ATTUNE_RETURN_IF_ERROR(add_kernels(kernels, options.target, model));
  ATTUNE_ASSIGN(AheadRunner ahead, AheadRunner::create(options.target));
  std::vector<kernel::Kernel> prepares;
  for (const SharedKernel& kernel : kernels) {
    if (kernel->prepare) prepares.push_back(*kernel->prepare);
  }
  ATTUNE_RETURN_IF_ERROR(ahead.load(prepares));
  ATTUNE_RETURN_IF_ERROR(build_plan(tasks, kernels, ahead, model.plan, model.weights));
  if (required.own_memory) model.plan = on_device(model.plan);
  return model;
}

Status write(const CompiledModel& model, const std::string& path) {
  runtime::ArtifactContents contents{model.plan, model.weights.pieces(), {}};
  for (const auto& object : model.objects) contents.objects.emplace_back(object);
  return runtime::write_artifact(path, contents);
}

}  // namespace attune::model
