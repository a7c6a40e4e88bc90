#include "tuner/logs/mapper.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <optional>

#include "tuner/logs/adapt.h"
#include "tuner/logs/knobs.h"
#include "tuner/tunings/tunings.h"

namespace attune::logs {
namespace {

// Whether one of the settings is a knob of the space.
bool any_known(const space::TemplateSpace& space, const space::Settings& settings) {
  for (const auto& [name, choice] : settings) {
    for (const space::Knob& knob : space.knobs(0)) {
      if (knob.name == name) return true;
    }
  }
  return false;
}

}  // namespace

Result<space::Point> nearest_point(const space::TemplateSpace& space,
                                   const space::Settings& settings) {
  const space::Point fallback = space.defaults()[0];
  const std::vector<space::Knob>& knobs = space.knobs(0);
  space::Point point = fallback;
  std::vector<std::size_t> set;
  for (const auto& [name, choice] : settings) {
    for (std::size_t i = 0; i < knobs.size(); ++i) {
      if (knobs[i].name != name) continue;
      point.choices[i] = static_cast<std::uint32_t>(space::nearest_choice(knobs[i], choice));
      set.push_back(i);
    }
  }
  while (true) {
    const auto scheduled = space.schedule_of(point);
    if (scheduled.ok()) return point;
    if (set.empty()) return scheduled.error();
    point.choices[set.back()] = fallback.choices[set.back()];
    set.pop_back();
  }
}

MappedTask::MappedTask(op_spec::OpTask task, target::Target target)
    : task_(std::move(task)),
      target_(std::move(target)),
      anchor_key_(logs::anchor_key(task_.program)) {}

const AlgorithmSpace* MappedTask::algorithm(const std::string& name) {
  if (const auto known = spaces_.find(name); known != spaces_.end()) return &known->second;
  const ir::Program* program = name == "direct" ? &task_.program : nullptr;
  for (const ops::AlgorithmDef& other : task_.alternatives) {
    if (other.name == name) program = &other.program;
  }
  if (!program) return nullptr;
  AlgorithmSpace made;
  made.algorithm = name;
  made.template_name = tunings::template_for(*program, target_).name;
  made.space =
      std::make_unique<space::TemplateSpace>(std::vector<space::NamedProgram>{{name, *program}},
                                             tunings::tuning_of(target_).templates(), target_);
  return &spaces_.emplace(name, std::move(made)).first->second;
}

std::string MappedTask::winograd() const {
  for (const char* name : {"winograd4", "winograd2", "winograd6"}) {
    for (const ops::AlgorithmDef& other : task_.alternatives) {
      if (other.name == name) return name;
    }
  }
  return {};
}

std::variant<MappedTask*, Unmapped> Mapper::task_of(const std::string& spec) {
  auto found = by_spec_.find(spec);
  if (found == by_spec_.end()) {
    Result<op_spec::OpTask> task = op_spec::parse_op_spec(spec, target_);
    if (task.ok()) {
      found = by_spec_.emplace(spec, std::make_unique<MappedTask>(std::move(*task), target_)).first;
    } else {
      Unmapped reason{fmt::format("no such operator here: {}", task.error().message)};
      found = by_spec_.emplace(spec, std::move(reason)).first;
    }
  }
  if (const auto* unmapped = std::get_if<Unmapped>(&found->second)) return *unmapped;
  return std::get<std::unique_ptr<MappedTask>>(found->second).get();
}

std::variant<MappedSchedule, Unmapped> Mapper::schedule_of(MappedTask& task,
                                                           const LogRecord& record,
                                                           bool winograd) const {
  std::string name = named_algorithm(record.entities);
  const bool named = !name.empty();
  if (!named) name = winograd ? task.winograd() : "direct";
  const AlgorithmSpace* algorithm = task.algorithm(name);
  if (!algorithm) {
    return Unmapped{named ? fmt::format("algorithm {} does not fit its task", name)
                          : "winograd does not fit its task here"};
  }
  TranslatedKnobs knobs =
      translate_knobs(record.entities, record.task, algorithm->template_name, target_.lanes(4));
  // Which algorithm was best is worth knowing even when none of its knobs is.
  if (name == "direct" && !any_known(*algorithm->space, knobs.settings)) {
    if (record.entities.empty()) return Unmapped{"it has no knobs"};
    return Unmapped{fmt::format("none of its knobs is known: {}", fmt::join(knobs.ignored, ", "))};
  }
  const Result<space::Point> point = nearest_point(*algorithm->space, knobs.settings);
  if (!point.ok()) {
    return Unmapped{fmt::format("its schedule is hopeless here: {}", point.error().message)};
  }
  return MappedSchedule{algorithm->space->trace_of(*point),
                        config_text(name, *algorithm->space, *point), std::move(knobs.ignored)};
}

}  // namespace attune::logs
