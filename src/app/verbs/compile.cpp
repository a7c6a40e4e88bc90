#include "app/verbs/compile.h"

#include <nlohmann/json.hpp>

#include "app/verbs/emitted_stages.h"
#include "app/verbs/look_refusal.h"
#include "app/verbs/stages.h"
#include "base/clock.h"
#include "compiler/model/kernel_store.h"
#include "compiler/model/steps.h"
#include "fleet/wire/channel.h"
#include "fleet/wire/state_directory.h"
#include "runtime/execution/affinity.h"
#include "targets/kinds.h"
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

bool wants_look(const CompileOptions& options) {
  const model::ScheduleOptions& schedule = options.source.schedule;
  return options.look && !schedule.use_default && schedule.file.empty();
}

// Where nothing is left to look at, nothing is refused.
Result<std::string> refusal(const model::PreparedModel& prepared, int cores) {
  const auto& schedules = prepared.schedules;
  if (std::none_of(schedules.begin(), schedules.end(), [](const model::Schedule& schedule) {
        return schedule.origin == model::Origin::Default;
      })) {
    return std::string();
  }
  ATTUNE_ASSIGN(const target::Target here, targets::this_machine());
  return why_not_timed(prepared.compile.target, here, cores);
}

Status look_at(model::PreparedModel& prepared, const CompileOptions& options,
               const FormatOptions& format, EmittedStages& stages, CompileReport& report) {
  if (!wants_look(options)) return {};
  const auto cores = static_cast<int>(runtime::allowed_cores().size());
  if (!may_time(prepared.compile.target, cores)) {
    ATTUNE_ASSIGN(report.look_refused, refusal(prepared, cores));
    return {};
  }
  const auto state = wire::default_state_directory();
  if (state.ok() && wire::is_served(*state)) {
    report.look_refused =
        "a scheduler has the cores of this machine, so that no schedule was timed";
    return {};
  }
  prepared.compile.kernels = std::make_shared<model::KernelStore>(prepared.compile.target);
  // What C lacks the target's text does not say, by which records are found.
  auto found = whole_model::look(
      prepared, {.records = options.source.schedule.records, .remember = !format.is_c()});
  if (!found.ok()) return found.error();
  report.looked = found->timed;
  report.looked_better = found->better.size();
  report.look_seconds = found->seconds;
  add_time(report.passes, "look", found->seconds * 1e3);
  for (auto& [task, better] : found->better) prepared.schedules[task] = std::move(better);
  if (stages.wants("look")) {
    stages.add("look", model::schedules_text(prepared.tasks, prepared.schedules));
  }
  return {};
}

void report_kernels(const codegen::Module& kernels, CompileReport& report) {
  report.shared_object = true;
  report.code_bytes = static_cast<std::int64_t>(kernels.code.size());
  for (const codegen::KernelEntry& kernel : kernels.kernels) {
    report.kernels.push_back(kernel.symbol);
    report.vector_spills += kernel.vector_spills;
  }
}

void report_plan(const model::CompiledModel& compiled, CompileReport& report) {
  for (const runtime::Kernel& kernel : compiled.plan.kernels) {
    report.kernels.push_back(kernel.symbol);
  }
  for (const auto& object : compiled.objects) {
    report.code_bytes += static_cast<std::int64_t>(object.size());
  }
}

Status make_output(model::PreparedModel prepared, const CompileOptions& options,
                   const FormatOptions& format, EmittedStages& stages, CompileReport& report) {
  const target::Target target = prepared.compile.target;
  ATTUNE_ASSIGN(const model::CompiledModel compiled, model::compile_prepared(std::move(prepared)));
  ATTUNE_RETURN_IF_ERROR(emit_tasks(compiled.tasks, compiled.schedules, target, stages));
  const SteadyClock clock;
  const std::int64_t start = clock.now_ns();
  if (format.is_object()) {
    ATTUNE_ASSIGN(const codegen::Module kernels, model::kernels_of(compiled, target));
    ATTUNE_RETURN_IF_ERROR(write_object(kernels, options.output));
    report_kernels(kernels, report);
  } else {
    ATTUNE_RETURN_IF_ERROR(write_format(compiled, format, options.output));
    report_plan(compiled, report);
  }
  if (!options.output.empty()) {
    add_time(report.passes, "write", seconds_between(start, clock.now_ns()) * 1e3);
  }
  report.schedule_text = model::describe(compiled.schedules, options.source.schedule);
  report.fallbacks = compiled.fallbacks;
  report.calls = compiled.plan.body.size();
  report.weight_bytes = compiled.weights.bytes();
  report.arena_bytes = compiled.plan.arena_bytes;
  report.peak_bytes = compiled.plan.peak_bytes;
  return {};
}

}  // namespace

Result<CompileReport> compile(const CompileOptions& options) {
  ATTUNE_RETURN_IF_ERROR(check_stages(options.emit));
  ATTUNE_RETURN_IF_ERROR(check_format(options.format, options.source.model.target, options.output));
  const SteadyClock clock;
  const std::int64_t start = clock.now_ns();
  ATTUNE_ASSIGN(
      model::LoadedModel model,
      model::load_source(options.source.model, "is compiled already",
                         "name the model that it was compiled from", ErrorCode::InvalidArgument));
  ATTUNE_ASSIGN(CompileReport report, compile(std::move(model), options));
  report.seconds = seconds_between(start, clock.now_ns());
  return report;
}

Result<CompileReport> compile(model::LoadedModel model, const CompileOptions& options) {
  const FormatOptions format = format_of(model, options.format, options.output);
  if (format.is_object() && format.sign) {
    return invalid("--sign is for artifacts, and an operator becomes a shared object",
                   "name the output FILE.attune");
  }
  ATTUNE_RETURN_IF_ERROR(check_stages_of(model.target, options.emit));
  const SteadyClock clock;
  const std::int64_t start = clock.now_ns();
  CompileReport report{.model = model.name,
                       .target = model.target_text(),
                       .precision = std::string(ops::name_of(model.precision))};
  EmittedStages stages(options.emit);
  model::SourceOptions source = options.source;
  source.observe = [&](const model::StepDone& step) {
    add_time(report.passes, step.name, step.ms);
    if (step.nodes > 0) report.nodes = step.nodes;
    if (stages.wants(step.name)) stages.add(step.name, step.text());
    if (step.name == kLastOfGraph && stages.wants("graph")) stages.add("graph", step.text());
  };
  add_time(report.passes, "import", model.import_ms);
  if (stages.wants("import")) stages.add("import", graph::to_string(model.graph));
  model.target = target_in(format, model.target);
  ATTUNE_ASSIGN(model::PreparedModel prepared, model::prepare_model(std::move(model), source));
  ATTUNE_RETURN_IF_ERROR(look_at(prepared, options, format, stages, report));
  ATTUNE_RETURN_IF_ERROR(make_output(std::move(prepared), options, format, stages, report));
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
  nlohmann::ordered_json refused;  // null: it was not
  if (!report.look_refused.empty()) refused = report.look_refused;
  json["look"] = {{"tasks", report.looked},
                  {"better", report.looked_better},
                  {"seconds", report.look_seconds},
                  {"refused", refused}};
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
