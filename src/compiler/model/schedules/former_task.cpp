#include "compiler/model/schedules/former_task.h"

#include <map>
#include <sstream>

#include "base/hash.h"
#include "compiler/ir/text/print.h"

namespace attune::model {
namespace {

using Names = std::map<std::string, std::string, std::less<>>;

// Loops of a stage by their place; nothing where the two differ in more than names.
Names names_of(const ir::Stage& former, const ir::Program& now) {
  Names names;
  const ir::Stage* stage = now.find_stage(former.name);
  if (stage == nullptr || stage->axes.size() != former.axes.size() ||
      stage->reduce_axes.size() != former.reduce_axes.size()) {
    return names;
  }
  for (std::size_t i = 0; i < former.axes.size(); ++i) {
    names[former.axes[i].name] = stage->axes[i].name;
  }
  for (std::size_t i = 0; i < former.reduce_axes.size(); ++i) {
    names[former.reduce_axes[i].name] = stage->reduce_axes[i].name;
  }
  return names;
}

// "j", and with another name for j what splitting ("j.1") and rfactor ("j_1") make of it.
std::string renamed(const std::string& word, const Names& names) {
  for (const std::size_t end : {word.find('.'), word.rfind('_')}) {
    const auto found = names.find(word.substr(0, end));
    if (found == names.end()) continue;
    return found->second + (end == std::string::npos ? "" : word.substr(end));
  }
  return word;
}

}  // namespace

std::optional<FormerTask> former_task(const ir::Program& own, const std::string& key) {
  std::string former = hex64(ir::hash(own));
  if (former == key) return std::nullopt;
  return FormerTask{std::move(former), own};
}

Result<schedule::Trace> renamed_loops(const std::string& trace, const ir::Program& former,
                                      const ir::Program& now) {
  std::map<std::string, Names, std::less<>> stages;
  for (const ir::Stage& stage : former.stages) {
    stages[stage.name] = names_of(stage, now);
    stages["rf." + stage.name] = stages[stage.name];  // what rfactor makes of it
  }
  std::istringstream lines(trace);
  std::string text;
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    Names names;  // of the stage named last: what follows are its loops
    std::string separator;
    for (std::string word; words >> word; separator = " ") {
      const auto stage = stages.find(word);
      if (stage != stages.end()) names = stage->second;
      text += separator + (stage != stages.end() ? word : renamed(word, names));
    }
    text += "\n";
  }
  return schedule::parse_trace(text);
}

}  // namespace attune::model
