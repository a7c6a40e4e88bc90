#include "app/api/compile_graph.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "app/deploy/kernels.h"
#include "base/clock.h"
#include "base/nearest.h"
#include "compiler/graph/passes/passes.h"
#include "compiler/ir/print.h"
#include "compiler/kernel/kernel.h"
#include "runtime/plan_json.h"

namespace attune::api {
namespace {

bool wants(const CompileGraphOptions& options, std::string_view stage) {
  return std::find(options.emit.begin(), options.emit.end(), stage) != options.emit.end();
}

// What the kernels are made of, task by task.
constexpr std::string_view kTaskStages[] = {"te", "trace", "loops", "llvm", "asm"};

Status check_emit(const CompileGraphOptions& options) {
  std::vector<std::string> known{"graph", "layouts", "tasks"};
  for (const std::string_view stage : kTaskStages) known.emplace_back(stage);
  known.emplace_back("plan");
  for (const graph::Pass& pass : graph::passes()) known.emplace_back(pass.name);
  for (const std::string& name : options.emit) {
    if (std::find(known.begin(), known.end(), name) != known.end()) continue;
    const std::string guess = nearest(name, known);
    return invalid(fmt::format("there is no stage '{}' of a model to emit", name),
                   fmt::format("{}the stages are {}",
                               guess.empty() ? "" : fmt::format("did you mean '{}'? ", guess),
                               fmt::join(known, ", ")));
  }
  return {};
}

Result<std::string> task_text(std::string_view stage, const graph::Task& task,
                              const deploy::Schedule& schedule, const target::Target& target) {
  if (stage == "te") return ir::to_string(*deploy::program_of(task, schedule.algorithm));
  if (stage == "trace") return schedule::to_string(schedule.trace);
  ATTUNE_ASSIGN(const deploy::LoweredTask lowered, deploy::lower_task(task, schedule, target));
  std::string text;
  const auto& [main, prepare] = lowered.program;
  for (const kernel::LoweredKernel* kernel : {prepare ? &*prepare : nullptr, &main}) {
    if (kernel == nullptr) continue;
    if (stage == "loops") {
      text += ir::to_string(kernel->loops) + "\n";
      continue;
    }
    for (const codegen::TextForm& form : kernel::code_generator_of(target).texts) {
      if (form.name != stage) continue;
      ATTUNE_ASSIGN(const std::string code, form.text(kernel->loops, target));
      text += code + "\n";
    }
  }
  return text;
}

Status emit_tasks(const CompileGraphOptions& options, const deploy::CompiledModel& model,
                  const target::Target& target, std::vector<EmittedStage>& stages) {
  for (const std::string_view stage : kTaskStages) {
    if (!wants(options, stage)) continue;
    std::string all;
    for (std::size_t i = 0; i < model.tasks.distinct.size(); ++i) {
      const graph::Task& task = model.tasks.distinct[i];
      ATTUNE_ASSIGN(const std::string text, task_text(stage, task, model.schedules[i], target));
      all += fmt::format("// {} {}\n{}\n", task.key, task.name, text);
    }
    stages.push_back({std::string(stage), std::move(all)});
  }
  return {};
}

// Passes run several times; their times are added up.
void add_time(std::vector<PassTime>& passes, std::string_view name, double milliseconds) {
  for (PassTime& pass : passes) {
    if (pass.name != name) continue;
    pass.milliseconds += milliseconds;
    return;
  }
  passes.push_back({std::string(name), milliseconds});
}

std::string tasks_text(const deploy::CompiledModel& model) {
  std::string text;
  for (std::size_t i = 0; i < model.tasks.distinct.size(); ++i) {
    const graph::Task& task = model.tasks.distinct[i];
    text += fmt::format("{}  {}  x{}  {}\n", task.key, task.name, model.tasks.uses[i],
                        model.schedules[i].algorithm);
  }
  return text;
}

}  // namespace

Result<CompileGraphReport> compile_graph(const CompileGraphOptions& options) {
  ATTUNE_RETURN_IF_ERROR(check_emit(options));
  ATTUNE_RETURN_IF_ERROR(check_format(options.format, options.output));
  const SteadyClock clock;
  const std::int64_t start = clock.now_ns();
  ATTUNE_ASSIGN(GraphModel model, load_graph(options.graph));
  CompileGraphReport report;
  report.model = model.name;
  deploy::CompileOptions compile = compile_options(model, options.graph);
  ATTUNE_ASSIGN(compile.choose,
                known_schedules(model.target, options.schedule, options.graph.model.exact,
                                has_cold_weights(model.graph, model.target)));
  compile.progress = options.progress;
  compile.observe = [&](std::string_view name, const graph::Graph& graph, double ms) {
    add_time(report.passes, name, ms);
    report.nodes = graph.nodes.size();
    const bool last = name == "layouts";
    if (wants(options, name) || (last && wants(options, "graph"))) {
      report.stages.push_back({std::string(name), graph::to_string(graph)});
    }
  };
  ATTUNE_ASSIGN(const deploy::CompiledModel compiled,
                deploy::compile_model(std::move(model.graph), compile));
  if (wants(options, "tasks")) report.stages.push_back({"tasks", tasks_text(compiled)});
  ATTUNE_RETURN_IF_ERROR(emit_tasks(options, compiled, compile.target, report.stages));
  if (wants(options, "plan"))
    report.stages.push_back({"plan", runtime::plan_to_json(compiled.plan)});
  ATTUNE_RETURN_IF_ERROR(write_format(compiled, compile.target, options.format, options.output));
  report.fallbacks = compiled.fallbacks;
  report.kernels = compiled.plan.kernels.size();
  report.calls = compiled.plan.body.size();
  report.weight_bytes = compiled.weights.bytes();
  report.arena_bytes = compiled.plan.arena_bytes;
  report.peak_bytes = compiled.plan.peak_bytes;
  for (const auto& object : compiled.objects) {
    report.code_bytes += static_cast<std::int64_t>(object.size());
  }
  report.seconds = seconds_between(start, clock.now_ns());
  return report;
}

std::string to_json(const CompileGraphReport& report) {
  nlohmann::ordered_json json{{"model", report.model},
                              {"nodes", report.nodes},
                              {"kernels", report.kernels},
                              {"calls", report.calls},
                              {"weight_bytes", report.weight_bytes},
                              {"code_bytes", report.code_bytes},
                              {"arena_bytes", report.arena_bytes},
                              {"peak_bytes", report.peak_bytes},
                              {"seconds", report.seconds}};
  json["fallbacks"] = fallbacks_json(report.fallbacks);
  for (const PassTime& pass : report.passes) {
    json["passes"].push_back({{"name", pass.name}, {"ms", pass.milliseconds}});
  }
  for (const EmittedStage& stage : report.stages) {
    json["stages"].push_back({{"name", stage.name}, {"text", stage.text}});
  }
  return json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

}  // namespace attune::api
