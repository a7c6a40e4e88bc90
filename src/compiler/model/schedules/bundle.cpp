#include "compiler/model/schedules/bundle.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "base/embedded_text.h"
#include "base/json_depth.h"
#include "base/json_value.h"
#include "compiler/ir/text/parse.h"
#include "targets/kinds.h"
#include "tuner/records/record_json.h"
#include "tuner/templates/templates.h"

ATTUNE_TEXT(attune_bundle, "compiler/model/schedules/bundle.jsonl")

namespace attune::model {
namespace {

using Json = nlohmann::ordered_json;

// Of the processor that a line was measured on.
constexpr const char* kProcessorField = "cpu";  // fixed word: a field

std::int64_t points_of(const ir::Stage& stage) {
  std::int64_t points = 1;
  for (const ir::Axis& axis : stage.axes) points *= axis.extent;
  for (const ir::Axis& axis : stage.reduce_axes) points *= axis.extent;
  return points;
}

const ir::Stage* anchor_of(const ir::Program& program) {
  if (const ir::Stage* anchor = program.find_stage("anchor")) return anchor;
  const ir::Stage* largest = nullptr;
  for (const ir::Stage& stage : program.stages) {
    if (!largest || points_of(stage) > points_of(*largest)) largest = &stage;
  }
  return largest;
}

// To a hundredth of a microsecond: more is noise.
double rounded(double us) { return std::round(us * 100) / 100; }

Json to_json(const BundledTask& task) {
  Json shape = Json::object();
  for (const auto& [loop, extent] : task.shape.extents) shape[loop] = extent;
  Json best = Json::array();
  for (const BundledSchedule& schedule : task.best) {
    best.push_back({{"us", rounded(schedule.time_us)}, {"trace", schedule.trace}});
  }
  return {{"schema", kBundleSchema},
          {"key", task.key},
          {"name", task.name},
          {kProcessorField, task.target.cpu},
          {"vector_bytes", task.target.vector_bytes},
          {"threads", task.target.threads},
          {"weights", task.weights == records::Weights::Cold ? "cold" : "hot"},
          {"family", task.shape.family},
          {"shape", std::move(shape)},
          {"best", std::move(best)}};
}

// The first schema had a target as text.
Result<BundledTarget> target_in(const Json& json, int schema) {
  if (schema > 1) {
    return BundledTarget{json.at(kProcessorField).get<std::string>(),
                         json_value<int>(json.at("vector_bytes")),
                         json_value<int>(json.at("threads"))};
  }
  ATTUNE_ASSIGN(const target::Target named, targets::parse(json.at("target").get<std::string>()));
  ATTUNE_ASSIGN(const target::Target resolved, targets::resolve(named));
  return bundled_target(resolved);
}

Result<BundledTask> from_json(const std::string& line) {
  if (json_depth(line) > kDeepestJson) {
    return Error{
        ErrorCode::Corrupt, fmt::format("it is nested more than {} deep", kDeepestJson), {}};
  }
  try {
    const Json json = Json::parse(line);
    const int schema = json_value<int>(json.at("schema"));
    if (schema < 1 || schema > kBundleSchema) {
      return Error{
          ErrorCode::Corrupt,
          fmt::format("it has schema {}, this attune reads up to {}", schema, kBundleSchema),
          "update attune; the bundle was not changed"};
    }
    ATTUNE_ASSIGN(BundledTarget target, target_in(json, schema));
    BundledTask task{json.at("key").get<std::string>(),
                     json.at("name").get<std::string>(),
                     std::move(target),
                     json.at("weights").get<std::string>() == "cold" ? records::Weights::Cold
                                                                     : records::Weights::Hot,
                     {json.at("family").get<std::string>(), {}},
                     {}};
    for (const auto& [loop, extent] : json.at("shape").items()) {
      task.shape.extents.emplace_back(loop, json_value<std::int64_t>(extent));
    }
    for (const Json& schedule : json.at("best")) {
      task.best.push_back(
          {schedule.at("trace").get<std::string>(), schedule.at("us").get<double>()});
    }
    return task;
  } catch (const Json::exception& failure) {
    return Error{ErrorCode::Corrupt, failure.what(), {}};
  }
}

// How large a task is, as far as the store knows it.
Result<TaskShape> known_shape(records::Store& store, const std::string& key) {
  ATTUNE_ASSIGN(const auto definition, store.task(key));
  if (!definition || definition->programs.empty() ||
      definition->programs.front().algorithm != "direct") {
    return TaskShape();
  }
  const auto direct = ir::parse_program(definition->programs.front().text);
  if (!direct.ok() || !ir::verify(*direct).ok()) return TaskShape();
  return shape_of(*direct);
}

// Machines that count as one have one entry for a task: the fastest schedules of all of them.
void add(Bundle& bundle, BundledTask task, std::size_t keep) {
  const auto same = std::find_if(bundle.begin(), bundle.end(), [&](const BundledTask& other) {
    return other.key == task.key && other.target == task.target && other.weights == task.weights;
  });
  if (same == bundle.end()) {
    bundle.push_back(std::move(task));
    return;
  }
  for (BundledSchedule& schedule : task.best) {
    const auto twin = std::find_if(same->best.begin(), same->best.end(),
                                   [&](const auto& held) { return held.trace == schedule.trace; });
    if (twin != same->best.end()) {
      if (twin->time_us <= schedule.time_us) continue;
      same->best.erase(twin);
    }
    const auto slower = std::find_if(same->best.begin(), same->best.end(), [&](const auto& held) {
      return held.time_us > schedule.time_us;
    });
    same->best.insert(slower, std::move(schedule));
  }
  if (same->best.size() > keep) same->best.resize(keep);
}

}  // namespace

BundledTarget bundled_target(const target::Target& target) {
  const std::string_view processor = targets::kind_of(target).processor(target);
  return {std::string(processor), target.vector_bytes, target.threads};
}

std::string to_string(const BundledTarget& target) {
  return fmt::format("{}, vectors of {} bytes, {} threads", target.cpu, target.vector_bytes,
                     target.threads);
}

TaskShape shape_of(const ir::Program& direct) {
  TaskShape shape;
  const ir::Stage* anchor = anchor_of(direct);
  if (!anchor) return shape;
  // Products of 16 bits are added up in f32.
  const ir::DType read = direct.inputs.empty() ? ir::kF32 : direct.inputs.front().buffer->type;
  const bool narrow = read == ir::kF16 || read == ir::kBF16;
  shape.family = fmt::format("{} {}", templates::template_for(direct).name,
                             ir::to_string(narrow ? read : anchor->outputs[0]->type));
  for (const auto* axes : {&anchor->axes, &anchor->reduce_axes}) {
    for (const ir::Axis& axis : *axes) shape.extents.emplace_back(axis.name, axis.extent);
  }
  return shape;
}

double distance(const TaskShape& a, const TaskShape& b) {
  constexpr double kOther = std::numeric_limits<double>::infinity();
  if (a.family.empty() || b.family.empty()) return kOther;
  if (a.family != b.family || a.extents.size() != b.extents.size()) return kOther;
  double sum = 0;
  for (std::size_t i = 0; i < a.extents.size(); ++i) {
    if (a.extents[i].first != b.extents[i].first) return kOther;
    sum += std::abs(std::log2(static_cast<double>(a.extents[i].second) /
                              static_cast<double>(b.extents[i].second)));
  }
  return sum;
}

std::string to_lines(const Bundle& bundle) {
  std::string lines;
  for (const BundledTask& task : bundle) {
    lines += to_json(task).dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
  }
  return lines;
}

Result<Bundle> parse_bundle(std::string_view lines) {
  Bundle bundle;
  for (std::size_t number = 1; !lines.empty(); ++number) {
    const std::size_t end = std::min(lines.find('\n'), lines.size());
    const std::string line(lines.substr(0, end));
    lines.remove_prefix(std::min(end + 1, lines.size()));
    if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
    auto task = from_json(line);
    if (!task.ok()) {
      return Error{ErrorCode::Corrupt,
                   fmt::format("line {} of the bundle: {}", number, task.error().message),
                   task.error().hint.empty() ? "make it anew, or ignore it with --history none"
                                             : task.error().hint};
    }
    bundle.push_back(std::move(*task));
  }
  return bundle;
}

Result<Bundle> shipped_bundle() {
  return parse_bundle(
      {attune_bundle_begin, static_cast<std::size_t>(attune_bundle_end - attune_bundle_begin)});
}

Result<Bundle> make_bundle(records::Store& store, std::size_t keep, std::size_t& left_out) {
  left_out = 0;
  Bundle bundle;
  ATTUNE_ASSIGN(const auto groups, store.sample_trials({.fastest = 1, .spread = 0}));
  for (const records::TrialGroup& group : groups) {
    auto target = targets::parse(group.target);
    if (target.ok()) target = targets::resolve(*target);
    if (!target.ok()) {
      ++left_out;
      continue;
    }
    ATTUNE_ASSIGN(
        const auto top,
        store.top({.task_key = group.task_key, .target = group.target, .weights = group.weights},
                  keep));
    if (top.empty()) continue;
    ATTUNE_ASSIGN(TaskShape shape, known_shape(store, group.task_key));
    BundledTask task{group.task_key, top.front().task_name, bundled_target(*target),
                     group.weights,  std::move(shape),      {}};
    for (const records::Record& record : top) {
      const auto time = records::competing_time_us(record.outcome);
      if (time) task.best.push_back({record.trace, *time});
    }
    if (!task.best.empty()) add(bundle, std::move(task), keep);
  }
  return bundle;
}

Bundle merged(Bundle held, Bundle added, std::size_t keep) {
  for (BundledTask& task : added) add(held, std::move(task), keep);
  return held;
}

}  // namespace attune::model
