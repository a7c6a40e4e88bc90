#include "compiler/model/fallback.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include <set>

namespace attune::model {

std::string describe(const Fallback& fallback) {
  return fmt::format(
      "task {} '{}': its {} schedule gave way to {} one: {}", fallback.key, fallback.task,
      fallback.wanted,
      fallback.wanted == fallback.used ? "another " + fallback.used : "the " + fallback.used,
      fallback.reason);
}

std::string summarize(const Fallbacks& fallbacks) {
  if (fallbacks.empty()) return {};
  std::set<std::string> tasks;
  for (const Fallback& fallback : fallbacks) tasks.insert(fallback.key);
  return fmt::format("{} {} not use the schedule chosen for {}; {}{}", tasks.size(),
                     tasks.size() == 1 ? "task does" : "tasks do",
                     tasks.size() == 1 ? "it" : "them", tasks.size() == 1 ? "" : "the first is ",
                     describe(fallbacks.front()));
}

nlohmann::ordered_json fallbacks_json(const Fallbacks& fallbacks) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const Fallback& fallback : fallbacks) {
    list.push_back({{"key", fallback.key},
                    {"name", fallback.task},
                    {"wanted", fallback.wanted},
                    {"used", fallback.used},
                    {"reason", fallback.reason}});
  }
  return list;
}

}  // namespace attune::model
