#include "app/api/graph_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <limits>
#include <mutex>
#include <set>

#include "app/api/npy.h"
#include "app/deploy/ahead.h"
#include "compiler/frontend/onnx/import.h"
#include "compiler/frontend/zoo/zoo.h"
#include "runtime/artifact.h"
#include "targets/kinds.h"
#include "tuner/records/record_json.h"
#include "tuner/records/store.h"

namespace attune::api {
namespace {

Result<onnx_proto::ModelFile> open_model(const std::string& text) {
  if (zoo::has(text)) return zoo::open(text);
  return onnx_proto::read_model(text);
}

// The fastest verified record of a task that still fits it; `passed_over` says why one that is
// faster does not.
std::optional<deploy::Schedule> best_record(records::Store& store, const graph::Task& task,
                                            const std::string& target, bool exact, bool cold,
                                            double& best_us, std::string& passed_over) {
  constexpr std::size_t kLookedAt = 64;
  const auto top = store.top(
      {.task_key = task.key, .target = target, .weights = weights_of(task, cold)}, kLookedAt);
  if (!top.ok()) return std::nullopt;
  for (const records::Record& record : *top) {
    const auto time = records::competing_time_us(record.outcome);
    if (!time || *time >= best_us) continue;
    const auto pass_over = [&](const std::string& why) {
      if (passed_over.empty()) passed_over = why;
    };
    auto trace = schedule::parse_trace(record.trace);
    if (!trace.ok()) {
      pass_over(trace.error().message);
      continue;
    }
    deploy::Schedule schedule = deploy::recorded_schedule(std::move(*trace));
    if (exact && schedule.algorithm != "direct") continue;
    const ir::Program* program = deploy::program_of(task, schedule.algorithm);
    if (program == nullptr) {
      pass_over(fmt::format("the task has no algorithm '{}'", schedule.algorithm));
      continue;
    }
    if (const auto state = schedule::replay(*program, schedule.trace); !state.ok()) {
      pass_over(state.error().message);
      continue;
    }
    schedule.measured_us = best_us = *time;
    return schedule;
  }
  return std::nullopt;
}

bool same_trace(const schedule::Trace& one, const schedule::Trace& other) {
  return schedule::hash(one) == schedule::hash(other);
}

// Whether one of the stores has an outcome of this schedule; also when that cannot be read.
bool any_tried(const std::vector<std::shared_ptr<records::Store>>& stores, const graph::Task& task,
               const std::string& target, const schedule::Trace& trace) {
  return std::any_of(stores.begin(), stores.end(), [&](const auto& store) {
    const auto known = store->known_traces(task.key, target);
    return !known.ok() || std::binary_search(known->begin(), known->end(), schedule::hash(trace));
  });
}

}  // namespace

ModelKind kind_of_model(const std::string& text) {
  std::error_code ignored;
  if (zoo::has(text)) return ModelKind::Zoo;
  const bool is_file = std::filesystem::is_regular_file(text, ignored);
  if (is_file && runtime::looks_like_artifact(text)) return ModelKind::Artifact;
  if (text.ends_with(".attune")) return ModelKind::Artifact;
  if (is_file || text.ends_with(".onnx")) return ModelKind::Onnx;
  return ModelKind::Operator;
}

Result<std::pair<std::string, ops::ConstantPtr>> parse_constant(const std::string& text) {
  const std::size_t equals = text.rfind('=');
  if (text.ends_with(".npy") && equals != std::string::npos && equals > 0) {
    ATTUNE_ASSIGN(const runtime::Tensor tensor, read_npy(text.substr(equals + 1)));
    const auto dtype = ir::parse_dtype(runtime::name_of(tensor.type()));
    CHECK(dtype.has_value(), "every type of the runtime has its name in the compiler");
    ir::Array array(*dtype, {tensor.shape().begin(), tensor.shape().end()});
    if (tensor.bytes() > 0) std::memcpy(array.data.data(), tensor.data(), tensor.bytes());
    return std::pair(text.substr(0, equals), ops::make_constant(std::move(array)));
  }
  auto numbers = parse_shape(text);
  if (!numbers.ok() || numbers->second.empty()) {
    return invalid(
        fmt::format("constant '{}' is not of the form NAME=3, NAME=1,2 or NAME=FILE.npy", text),
        "write --constant k=3");
  }
  return std::pair(numbers->first, ops::make_constant(numbers->second));
}

std::string artifact_name(const std::string& model) {
  return std::filesystem::path(model).stem().string() + ".attune";
}

Result<target::Target> resolve_target(const ModelOptions& options) {
  ATTUNE_ASSIGN(target::Target target, targets::parse(options.target));
  if (options.threads > 0) target.threads = options.threads;
  return targets::resolve(target);
}

Result<GraphModel> load_graph(const GraphOptions& options, std::vector<std::string>* needed) {
  GraphModel model;
  ATTUNE_ASSIGN(model.target, resolve_target(options.model));
  ATTUNE_ASSIGN(const onnx_proto::ModelFile file, open_model(options.model.model));
  onnx::ImportOptions import;
  import.shapes = options.shapes;
  import.constants = options.constants;
  import.builder.run_host = deploy::run_host_on_constants;
  if (options.without_folding) import.builder.largest_folded = 1;
  onnx::ImportReport report;
  auto graph = onnx::import_model(file, import, &report);
  if (needed != nullptr) *needed = report.needed_constants;
  if (!graph.ok()) return std::move(graph).error();
  model.graph = std::move(*graph);
  model.name = std::filesystem::path(options.model.model).stem().string();
  return model;
}

Result<std::pair<std::string, std::vector<std::int64_t>>> parse_shape(const std::string& text) {
  const auto wrong = [&] {
    return invalid(fmt::format("shape '{}' is not of the form NAME=1,3,224,224", text),
                   "write --shape input=1,3,224,224");
  };
  const std::size_t equals = text.rfind('=');
  if (equals == std::string::npos || equals == 0) return wrong();
  std::vector<std::int64_t> shape;
  const char* next = text.data() + equals + 1;
  const char* const end = text.data() + text.size();
  while (next != end) {
    std::int64_t extent = 0;
    const auto parsed = std::from_chars(next, end, extent);
    if (parsed.ec != std::errc() || extent < 0) return wrong();
    shape.push_back(extent);
    next = parsed.ptr;
    if (next == end) break;
    if (*next != ',' || next + 1 == end) return wrong();
    ++next;
  }
  return std::pair(text.substr(0, equals), std::move(shape));
}

deploy::CompileOptions compile_options(const GraphModel& model, const GraphOptions& options) {
  deploy::CompileOptions compile;
  compile.target = model.target;
  compile.name = model.name;
  compile.exact = options.model.exact;
  compile.disabled_passes = options.disabled_passes;
  if (options.without_folding) compile.disabled_passes.emplace_back("fold_constants");
  return compile;
}

deploy::ScheduledTask scheduled_task(const graph::Task& task, const target::Target& target,
                                     bool exact, bool cold) {
  return {.key = task.key,
          .weights = weights_of(task, cold),
          .program_of = [&task, exact](const std::string& algorithm) -> const ir::Program* {
            return exact && algorithm != "direct" ? nullptr : deploy::program_of(task, algorithm);
          },
          .default_trace = deploy::default_schedule(task, target, exact).trace};
}

Result<std::function<KnownTask(const graph::Task&)>> known_tasks(const target::Target& target,
                                                                 const ScheduleOptions& schedule,
                                                                 bool exact, bool cold) {
  using Know = std::function<KnownTask(const graph::Task&)>;
  const auto untuned = [target, exact](const graph::Task& task) {
    return KnownTask{deploy::default_schedule(task, target, exact), {}};
  };
  if (schedule.use_default || schedule.history == "none") return Know(untuned);
  ATTUNE_ASSIGN(const std::string own, records_path(schedule.records));
  ATTUNE_ASSIGN(const std::optional<std::string> history, history_path(schedule.history));
  std::vector<std::shared_ptr<records::Store>> stores;
  for (const std::string& path : {own, history.value_or("")}) {
    if (path.empty()) continue;
    ATTUNE_ASSIGN(auto store, records::open_sqlite_store_for_reading(path));
    stores.push_back(std::move(store));
  }
  ATTUNE_ASSIGN(deploy::Bundle shipped, deploy::shipped_bundle());
  const auto bundle = std::make_shared<const deploy::Bundle>(std::move(shipped));
  auto mutex = std::make_shared<std::mutex>();
  const std::string text = target::to_string(target);
  return Know([=](const graph::Task& task) {
    std::optional<deploy::Schedule> best;
    std::string passed_over;
    double best_us = std::numeric_limits<double>::infinity();
    {
      const std::lock_guard lock(*mutex);
      for (const auto& store : stores) {
        if (auto found = best_record(*store, task, text, exact, cold, best_us, passed_over))
          best = std::move(found);
      }
    }
    KnownTask known = untuned(task);
    const bool only_default = best && same_trace(best->trace, known.schedule.trace);
    if (best) known = {std::move(*best), best_us};
    if (!best || only_default) {
      const auto described = scheduled_task(task, target, exact, cold);
      auto found = deploy::shipped_schedules(*bundle, described, target);
      const std::lock_guard lock(*mutex);
      if (!found.empty() && (!best || !any_tried(stores, task, text, found[0].trace))) {
        known.schedule.algorithm = std::move(found[0].algorithm);
        known.schedule.trace = std::move(found[0].trace);
        known.schedule.origin = deploy::Origin::Shipped;
        known.recorded_us.reset();
        // Of times from elsewhere only the proportions matter: they choose layouts.
        if (!best && found[0].measured) known.schedule.measured_us = found[0].time_us;
      }
    }
    known.schedule.passed_over = std::move(passed_over);
    return known;
  });
}

Result<deploy::ChooseSchedule> known_schedules(const target::Target& target,
                                               const ScheduleOptions& schedule, bool exact,
                                               bool cold) {
  ATTUNE_ASSIGN(const auto know, known_tasks(target, schedule, exact, cold));
  return deploy::ChooseSchedule([know](const graph::Task& task) { return know(task).schedule; });
}

bool has_cold_weights(const graph::Graph& graph, const target::Target& target) {
  std::set<graph::ValueId> used;
  for (const graph::Node& node : graph.nodes) used.insert(node.inputs.begin(), node.inputs.end());
  used.erase(graph::kNoValue);
  std::int64_t bytes = 0;
  for (const graph::ValueId id : used) {
    if (graph.value(id).constant != nullptr) bytes += graph.value(id).type.bytes();
  }
  // Others use the last cache too, and algorithms with fewer multiplications have more weights.
  return bytes > target.l3_bytes / 3;
}

records::Weights weights_of(const graph::Task& task, bool cold) {
  const auto& inputs = task.op.program.inputs;
  const bool constants = std::any_of(inputs.begin(), inputs.end(),
                                     [](const ir::Input& input) { return input.constant; });
  return cold && constants && !task.repeats ? records::Weights::Cold : records::Weights::Hot;
}

}  // namespace attune::api
