#include "compiler/model/steps.h"

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
#include "runtime/format/plan_json.h"
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

std::string graph_text(const Compilation& c) { return graph::to_string(c.graph); }

Status optimise(Compilation& c) {
  graph::PassOptions passes;
  passes.disabled = c.options.disabled_passes;
  if (c.options.observe) {
    passes.observe = [&](std::string_view pass, const graph::Graph& graph, double ms) {
      c.options.observe({pass, ms, graph.nodes.size(), [&] { return graph::to_string(graph); }});
    };
  }
  passes.context.run_host = run_host_on_constants;
  passes.context.exact = c.options.algorithms.exact();
  passes.context.precision = c.options.precision;
  ATTUNE_ASSIGN(c.graph, graph::optimise(std::move(c.graph), passes));
  return {};
}

Status fold(Compilation& c) {
  ATTUNE_ASSIGN(AheadRunner ahead, AheadRunner::create(c.options.target));
  ATTUNE_ASSIGN(c.graph, compute_constants(c.graph, ahead));
  return {};
}

Status lay_out(Compilation& c) {
  ATTUNE_ASSIGN(const graph::LayoutPlan layouts, choose_layouts(c.graph, c.options));
  c.graph = graph::lay_out(c.graph, layouts).graph;
  return graph::verify(c.graph);
}

void state(const TaskFacts& facts, graph::Task& task) {
  task.name = facts.name;
  task.op.flops = facts.flops;
  task.op.tolerance = facts.tolerance;
}

// The one algorithm that is allowed, where it is one, must be there.
Status check_algorithms(const ModelTasks& tasks, const std::string& only) {
  for (const graph::Task& task : tasks.distinct) {
    if (only.empty() || program_of(task, only) != nullptr) continue;
    return unsupported(fmt::format("algorithm '{}' does not fit {}", only, task.name),
                       "leave algo out to let all that fit compete");
  }
  return {};
}

Status cut(Compilation& c) {
  ATTUNE_ASSIGN(c.own_tasks, collect_tasks(std::move(c.graph), c.options.target));
  c.tasks = &c.own_tasks;
  const std::vector<TaskFacts>& facts = c.options.task_facts;
  CHECK(facts.size() <= c.own_tasks.distinct.size(), "more tasks are named than there are");
  for (std::size_t i = 0; i < facts.size(); ++i) state(facts[i], c.own_tasks.distinct[i]);
  return check_algorithms(c.own_tasks, c.options.algorithms.only);
}

std::string tasks_text(const Compilation& c) {
  std::string text;
  for (std::size_t i = 0; i < c.tasks->distinct.size(); ++i) {
    const graph::Task& task = c.tasks->distinct[i];
    text += fmt::format("{}  {}  x{}\n", task.key, task.name, c.tasks->uses[i]);
  }
  return text;
}

Status choose(Compilation& c) {
  c.schedules.resize(c.tasks->distinct.size());
  return run_parallel(c.schedules.size(), compiling_threads(), [&](std::size_t i) -> Status {
    const graph::Task& task = c.tasks->distinct[i];
    c.schedules[i] = c.options.schedule_of(task);
    return {};
  });
}

std::string schedules_text(const Compilation& c) {
  return model::schedules_text(*c.tasks, c.schedules);
}

// Kernels get names that differ.
Status compile(Compilation& c) {
  c.kernels.resize(c.tasks->distinct.size());
  const auto store =
      c.options.kernels ? c.options.kernels : std::make_shared<KernelStore>(c.options.target);
  std::atomic<std::size_t> done{0};
  return run_parallel(c.kernels.size(), compiling_threads(), [&](std::size_t i) -> Status {
    const graph::Task& task = c.tasks->distinct[i];
    auto compiled = store->kernel(task, c.schedules[i], symbol_of(task, i));
    if (!compiled.ok()) {
      return Error{compiled.error().code,
                   fmt::format("task '{}': {}", task.name, compiled.error().message),
                   compiled.error().hint};
    }
    c.kernels[i] = std::move(*compiled);
    if (c.options.progress) c.options.progress(++done, c.kernels.size());
    return {};
  });
}

std::string kernels_text(const Compilation& c) {
  std::string text;
  for (const SharedKernel& kernel : c.kernels) {
    const codegen::KernelObject& object = kernel->main.object;
    text += fmt::format("{}  {} bytes, {} of workspace\n", object.entry.symbol, object.bytes.size(),
                        object.entry.workspace_bytes);
  }
  return text;
}

// What the plan and the report know of each kernel, and all of them linked.
Status link(Compilation& c) {
  CompiledModel& model = c.model;
  std::vector<codegen::KernelObject> objects;
  for (const SharedKernel& task : c.kernels) {
    const codegen::KernelEntry& entry = task->main.object.entry;
    runtime::Kernel kernel{entry.symbol, 0, entry.workspace_bytes, {}};
    for (const kernel::Parameter& parameter : task->main.parameters) {
      kernel.arguments.push_back(
          {parameter.bytes(), parameter.kind == kernel::ParameterKind::Output});
    }
    model.plan.kernels.push_back(std::move(kernel));
    model.schedules.push_back(task->schedule);
    model.fallbacks.insert(model.fallbacks.end(), task->fallbacks.begin(), task->fallbacks.end());
    objects.push_back(task->main.object);
  }
  if (objects.empty()) return {};
  ATTUNE_ASSIGN(std::vector<std::byte> linked, kernel::link(objects, c.options.target));
  model.objects.push_back(std::move(linked));
  return {};
}

Status plan(Compilation& c) {
  ATTUNE_RETURN_IF_ERROR(link(c));
  c.model.kernels = c.kernels;
  const target::Target& target = c.options.target;
  runtime::Plan& plan = c.model.plan;
  plan.model = c.options.name;
  plan.target = target::to_string(target);
  plan.precision = ops::name_of(c.options.precision);
  target::Requirements required = targets::kind_of(target).requirements(target);
  plan.device = target.kind;
  plan.architecture = std::move(required.architecture);
  plan.features = std::move(required.features);
  plan.threads = target.threads;
  ATTUNE_ASSIGN(AheadRunner ahead, AheadRunner::create(target));
  std::vector<kernel::Kernel> prepares;
  for (const SharedKernel& kernel : c.kernels) {
    if (kernel->prepare) prepares.push_back(*kernel->prepare);
  }
  ATTUNE_RETURN_IF_ERROR(ahead.load(prepares));
  ATTUNE_RETURN_IF_ERROR(build_plan(*c.tasks, c.kernels, ahead, plan, c.model.weights));
  for (runtime::InterfaceTensor& input : plan.inputs) {
    const auto most = c.options.maxima.find(input.name);
    if (most != c.options.maxima.end()) input.most = most->second;
  }
  if (required.own_memory) plan = on_device(plan);
  return {};
}

std::string plan_text(const Compilation& c) { return runtime::plan_to_json(c.model.plan); }

std::span<const Step> all_steps() {
  static constexpr Step list[] = {
      {"optimise", "the passes over the graph, a few times", optimise, graph_text},
      {"constants", "all that depends on constants only is computed", fold, graph_text},
      {"layouts", "each value gets its layout", lay_out, graph_text},
      {"tasks", "nodes are fused into groups, equal ones are one task", cut, tasks_text},
      {"schedules", "each task gets its schedule", choose, schedules_text},
      {"kernels", "tasks are lowered and compiled", compile, kernels_text},
      {"plan", "kernels are linked, weights packed, buffers placed", plan, plan_text},
  };
  return list;
}

}  // namespace

std::string schedules_text(const ModelTasks& tasks, const std::vector<Schedule>& schedules) {
  std::string text;
  for (std::size_t i = 0; i < schedules.size(); ++i) {
    const graph::Task& task = tasks.distinct[i];
    text += fmt::format("{}  {}  {}  {}\n", task.key, task.name, schedules[i].algorithm,
                        name_of(schedules[i].origin));
  }
  return text;
}

std::span<const Step> task_steps() { return all_steps().first(4); }
std::span<const Step> schedule_steps() { return all_steps().subspan(4, 1); }
std::span<const Step> code_steps() { return all_steps().subspan(5); }

Status run_steps(std::span<const Step> steps, Compilation& c) {
  const SteadyClock clock;
  for (const Step& step : steps) {
    const std::int64_t start = clock.now_ns();
    ATTUNE_RETURN_IF_ERROR(step.run(c));
    const double ms = seconds_between(start, clock.now_ns()) * 1e3;
    if (c.options.observe) {
      c.options.observe({step.name, ms, c.graph.nodes.size(), [&] { return step.text(c); }});
    }
  }
  return {};
}

}  // namespace attune::model
