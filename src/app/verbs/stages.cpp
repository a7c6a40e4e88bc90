#include "app/verbs/stages.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/nearest.h"
#include "compiler/graph/passes/passes.h"
#include "compiler/kernel/kernel.h"
#include "compiler/model/steps.h"

namespace attune::verbs {
namespace {

// Of a task on one kind of targets: its program and schedule, what lowering makes of them, and the
// code.
std::vector<Stage> task_stages(const codegen::CodeGenerator& generator) {
  std::vector<Stage> list = {
      {.name = "te", .meaning = "what each task computes, as a tensor expression"},
      {.name = "trace", .meaning = "its schedule, as a list of steps"},
      {.name = "nests", .meaning = "its loops as the schedule has them, before any pass"}};
  for (const lower::Pass& pass : generator.pipeline()) {
    list.push_back({.name = pass.name, .meaning = pass.meaning, .is_pass = true});
  }
  list.push_back({.name = "loops", .meaning = "its loops after the last pass"});
  for (const codegen::TextForm& form : generator.texts) {
    list.push_back({.name = form.name, .meaning = form.meaning});
  }
  for (Stage& stage : list) {
    stage.of_tasks = true;
    stage.kinds = {generator.kind};
  }
  return list;
}

// Those of another kind come where they happen; what both have is one.
void merge(std::vector<Stage>& list, const std::vector<Stage>& others) {
  auto at = list.begin();
  for (const Stage& other : others) {
    const auto same = std::find_if(list.begin(), list.end(),
                                   [&](const Stage& each) { return each.name == other.name; });
    if (same == list.end()) {
      at = list.insert(at, other) + 1;
      continue;
    }
    same->kinds.push_back(other.kinds.front());
    at = std::max(at, same + 1);
  }
}

void add_task_stages(std::vector<Stage>& list) {
  const auto generators = kernel::code_generators();
  std::vector<Stage> all;
  for (const codegen::CodeGenerator* generator : generators) merge(all, task_stages(*generator));
  for (Stage& stage : all) {
    if (stage.kinds.size() == generators.size()) stage.kinds.clear();
    list.push_back(std::move(stage));
  }
}

void add_steps(std::vector<Stage>& list, std::span<const model::Step> steps) {
  for (const model::Step& step : steps) {
    list.push_back({.name = step.name, .meaning = step.meaning});
    if (step.name == kLastOfGraph) {
      list.push_back({.name = "graph", .meaning = "the graph that tasks are cut from"});
    }
  }
}

}  // namespace

std::vector<Stage> stages() {
  std::vector<Stage> list = {{.name = "import", .meaning = "the graph as its file has it"}};
  for (const graph::Pass& pass : graph::passes()) {
    list.push_back({.name = pass.name, .meaning = pass.meaning, .is_pass = true});
  }
  add_steps(list, model::task_steps());
  add_steps(list, model::schedule_steps());
  list.push_back(
      {.name = "look", .meaning = "the schedules when defaults were timed beside others"});
  add_task_stages(list);
  add_steps(list, model::code_steps());
  return list;
}

Status check_stages(const std::vector<std::string>& names) {
  std::vector<std::string> known;
  for (const Stage& stage : stages()) known.emplace_back(stage.name);
  for (const std::string& name : names) {
    if (std::find(known.begin(), known.end(), name) != known.end()) continue;
    const std::string guess = nearest(name, known);
    return invalid(fmt::format("there is no stage '{}' to emit", name),
                   fmt::format("{}the stages are {}",
                               guess.empty() ? "" : fmt::format("did you mean '{}'? ", guess),
                               fmt::join(known, ", ")));
  }
  return {};
}

Status check_stages_of(const target::Target& target, const std::vector<std::string>& names) {
  std::vector<std::string_view> own;
  for (const Stage& stage : task_stages(kernel::code_generator_of(target))) {
    own.push_back(stage.name);
  }
  for (const Stage& stage : stages()) {
    const bool wanted = std::find(names.begin(), names.end(), stage.name) != names.end();
    const bool has_it = std::find(own.begin(), own.end(), stage.name) != own.end();
    if (!stage.of_tasks || !wanted || has_it) continue;
    return invalid(fmt::format("targets of kind '{}' have no stage '{}'", target.kind, stage.name),
                   fmt::format("the stages of their tasks are {}", fmt::join(own, ", ")));
  }
  return {};
}

std::string stages_page() {
  std::string page;
  for (const Stage& stage : stages()) {
    page += fmt::format("  {:<21} {}", stage.name, stage.meaning);
    if (!stage.kinds.empty()) page += fmt::format(" ({})", fmt::join(stage.kinds, ", "));
    page += '\n';
  }
  return page;
}

std::string names_without_passes() {
  std::vector<std::string_view> names;
  for (const Stage& stage : stages()) {
    if (!stage.is_pass) names.push_back(stage.name);
  }
  return fmt::format("{}", fmt::join(names, ", "));
}

}  // namespace attune::verbs
