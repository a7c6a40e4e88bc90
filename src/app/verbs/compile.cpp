#include "app/verbs/compile.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "app/verbs/emitted_stages.h"
#include "base/atomic_file.h"
#include "base/clock.h"
#include "compiler/kernel/kernel.h"
#include "compiler/model/kernel_store.h"
#include "compiler/model/kernels.h"
#include "compiler/model/steps.h"
#include "fleet/wire/channel.h"
#include "fleet/wire/state_directory.h"
#include "tuner/whole_model/look.h"

namespace attune::verbs {
namespace {

// Passes run several times; their times are added up.
void add_time(std::vector<PassTime>& passes, std::string_view name, double milliseconds) {
  for (PassTime& pass : passes) {
    if (pass.name != name) continue;
    pass.milliseconds += milliseconds;
    return;
  }
  passes.push_back({std::string(name), milliseconds});
}

// The kernels of an operator's one task, with what prepares its weights, for others to call.
Status make_shared_object(const model::PreparedModel& prepared, const std::string& output,
                          EmittedStages& stages, CompileReport& report) {
  const graph::Task& task = prepared.tasks.distinct.front();
  const target::Target& target = prepared.compile.target;
  auto lowered = model::lower_task(task, prepared.compile.choose(task), target);
  if (!lowered.ok()) return lowered.error();
  std::vector<ir::Kernel> kernels;
  if (lowered->program.prepare) kernels.push_back(std::move(lowered->program.prepare->loops));
  kernels.push_back(std::move(lowered->program.main.loops));
  const auto module = kernel::compile_module(kernels, target);
  if (!module.ok()) return module.error();
  if (!output.empty()) {
    const std::string_view bytes(reinterpret_cast<const char*>(module->code.data()),
                                 module->code.size());
    ATTUNE_RETURN_IF_ERROR(write_file_atomically(output, bytes));
  }
  report.shared_object = true;
  report.schedule_text = model::describe(lowered->schedule.origin);
  report.fallbacks = lowered->fallbacks;
  report.code_bytes = static_cast<std::int64_t>(module->code.size());
  for (const codegen::KernelEntry& kernel : module->kernels) {
    report.kernels.push_back(kernel.symbol);
    report.vector_spills += kernel.vector_spills;
  }
  const std::vector<model::Schedule> schedules{lowered->schedule};
  return emit_tasks(prepared.tasks, schedules, target, stages);
}

// Nothing known, nothing asked for, and a machine that was measured: this one.
bool may_look(const model::PreparedModel& prepared, const CompileOptions& options) {
  const model::ScheduleOptions& schedule = options.source.schedule;
  return options.look && !schedule.use_default && schedule.file.empty() &&
         prepared.compile.target.machine.cores >= prepared.compile.target.threads;
}

Status look_at(model::PreparedModel& prepared, const CompileOptions& options,
               CompileReport& report) {
  if (!may_look(prepared, options)) return {};
  const auto state = wire::default_state_directory();
  if (state.ok() && wire::is_served(*state)) {
    report.look_refused =
        "a scheduler has the cores of this machine, so that no schedule was timed";
    return {};
  }
  prepared.compile.kernels = std::make_shared<model::KernelStore>(prepared.compile.target);
  auto found = whole_model::look(prepared, {.records = options.source.schedule.records});
  if (!found.ok()) return found.error();
  report.looked = found->timed;
  report.looked_better = found->better.size();
  report.look_seconds = found->seconds;
  prepared.compile.choose = [know = prepared.know,
                             better = std::move(found->better)](const graph::Task& task) {
    const auto looked = better.find(task.key);
    return looked == better.end() ? know(task).schedule : looked->second;
  };
  return {};
}

Status make_artifact(model::PreparedModel prepared, const CompileOptions& options,
                     EmittedStages& stages, CompileReport& report) {
  const target::Target target = prepared.compile.target;
  report.schedule_text = model::describe(options.source.schedule);
  const auto compiled = model::compile_prepared(std::move(prepared));
  if (!compiled.ok()) return compiled.error();
  ATTUNE_RETURN_IF_ERROR(emit_tasks(compiled->tasks, compiled->schedules, target, stages));
  ATTUNE_RETURN_IF_ERROR(write_format(*compiled, target, options.format, options.output));
  report.fallbacks = compiled->fallbacks;
  for (const runtime::Kernel& kernel : compiled->plan.kernels) {
    report.kernels.push_back(kernel.symbol);
  }
  report.calls = compiled->plan.body.size();
  report.weight_bytes = compiled->weights.bytes();
  report.arena_bytes = compiled->plan.arena_bytes;
  report.peak_bytes = compiled->plan.peak_bytes;
  for (const auto& object : compiled->objects) {
    report.code_bytes += static_cast<std::int64_t>(object.size());
  }
  return {};
}

}  // namespace

Result<CompileReport> compile(const CompileOptions& options) {
  ATTUNE_RETURN_IF_ERROR(check_emit(options.emit));
  ATTUNE_RETURN_IF_ERROR(check_format(options.format, options.source.model.target, options.output));
  const SteadyClock clock;
  const std::int64_t start = clock.now_ns();
  ATTUNE_ASSIGN(
      model::LoadedModel model,
      model::load_source(options.source.model, "is compiled already",
                         "name the model that it was compiled from", ErrorCode::InvalidArgument));
  CompileReport report{.model = model.name,
                       .target = model.target_text(),
                       .precision = std::string(ops::name_of(model.precision))};
  std::vector<std::string> emit = options.emit;
  std::replace(emit.begin(), emit.end(), std::string("graph"), std::string("layouts"));
  EmittedStages stages(emit);
  model::SourceOptions source = options.source;
  source.observe = [&](const model::StepDone& step) {
    add_time(report.passes, step.name, step.ms);
    if (step.nodes > 0) report.nodes = step.nodes;
    if (stages.wants(step.name)) stages.add(step.name, step.text());
  };
  const auto steps = model::code_steps();
  const bool wants_code = std::any_of(
      steps.begin(), steps.end(), [&](const model::Step& step) { return stages.wants(step.name); });
  const bool object = model.is_operator() && !options.format.is_c() &&
                      !options.output.ends_with(".attune") && !wants_code;
  if (object && options.format.sign) {
    return invalid("--sign is for artifacts, and an operator becomes a shared object",
                   "name the output FILE.attune");
  }
  ATTUNE_ASSIGN(model::PreparedModel prepared, model::prepare_model(std::move(model), source));
  ATTUNE_RETURN_IF_ERROR(look_at(prepared, options, report));
  ATTUNE_RETURN_IF_ERROR(object ? make_shared_object(prepared, options.output, stages, report)
                                : make_artifact(std::move(prepared), options, stages, report));
  report.stages = stages.take();
  report.seconds = seconds_between(start, clock.now_ns());
  return report;
}

std::string to_json(const CompileReport& report) {
  nlohmann::ordered_json json{
      {"model", report.model},           {"precision", report.precision},
      {"nodes", report.nodes},           {"kernels", report.kernels.size()},
      {"calls", report.calls},           {"weight_bytes", report.weight_bytes},
      {"code_bytes", report.code_bytes}, {"arena_bytes", report.arena_bytes},
      {"peak_bytes", report.peak_bytes}, {"seconds", report.seconds}};
  json["look"] = {
      {"tasks", report.looked}, {"better", report.looked_better}, {"seconds", report.look_seconds}};
  json["fallbacks"] = model::fallbacks_json(report.fallbacks);
  for (const PassTime& pass : report.passes) {
    json["passes"].push_back({{"name", pass.name}, {"ms", pass.milliseconds}});
  }
  for (const EmittedStage& stage : report.stages) {
    json["stages"].push_back({{"name", stage.name}, {"text", stage.text}});
  }
  return json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

}  // namespace attune::verbs
