// The stages of compiling that can be printed: one list, in the order in which they happen, made of
// the lists by which compiling goes.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "compiler/target/target.h"

namespace attune::verbs {

struct Stage {
  std::string_view name;
  std::string_view meaning;
  bool is_pass = false;   // over a graph or a kernel; otherwise a step, or a form of what there is
  bool of_tasks = false;  // there is one of every task
  std::vector<std::string_view> kinds = {};  // of targets whose tasks have it; empty: all
};
std::vector<Stage> stages();

// The step that leaves the graph from which tasks are cut: what people call the graph.
inline constexpr std::string_view kLastOfGraph = "layouts";

// Fails for a stage that there is not, or that the target does not have.
Status check_stages(const std::vector<std::string>& names);
Status check_stages_of(const target::Target& target, const std::vector<std::string>& names);

// All of them, a line each, for a person.
std::string stages_page();
// The names of those that are no passes, for a line of help.
std::string names_without_passes();

}  // namespace attune::verbs
