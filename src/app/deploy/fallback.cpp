#include "app/deploy/fallback.h"

#include <fmt/format.h>

#include <set>

namespace attune::deploy {

std::string describe(const Fallback& fallback) {
  return fmt::format(
      "task {} '{}': its {} schedule gave way to {} one: {}", fallback.key, fallback.task,
      fallback.wanted,
      fallback.wanted == fallback.used ? "another " + fallback.used : "the " + fallback.used,
      fallback.reason);
}

std::string summarize(const std::vector<Fallback>& fallbacks) {
  if (fallbacks.empty()) return {};
  std::set<std::string> tasks;
  for (const Fallback& fallback : fallbacks) tasks.insert(fallback.key);
  return fmt::format("{} {} not use the schedule chosen for {}; {}{}", tasks.size(),
                     tasks.size() == 1 ? "task does" : "tasks do",
                     tasks.size() == 1 ? "it" : "them", tasks.size() == 1 ? "" : "the first is ",
                     describe(fallbacks.front()));
}

}  // namespace attune::deploy
