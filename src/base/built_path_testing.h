// Where a test program finds what was built beside it, and its data. Paths are known when it is
// built; in a package (scripts/package) both folders lie elsewhere, and ATTUNE_BUILT_PATHS says
// where: pairs of an old and a new beginning, separated by colons, the first that fits counts.
#pragma once

#include <cstdlib>
#include <string>
#include <string_view>

namespace attune {

inline std::string built_path(std::string_view path) {
  const char* moved = std::getenv("ATTUNE_BUILT_PATHS");
  std::string_view pairs = moved == nullptr ? "" : moved;
  const auto next = [&pairs] {
    const std::string_view word = pairs.substr(0, pairs.find(':'));
    pairs.remove_prefix(word.size() < pairs.size() ? word.size() + 1 : word.size());
    return word;
  };
  while (!pairs.empty()) {
    const std::string_view from = next();
    const std::string_view to = next();
    const std::string_view rest =
        path.substr(0, from.size()) == from ? path.substr(from.size()) : "";
    if (!from.empty() && !rest.empty() && rest[0] == '/')
      return std::string(to) + std::string(rest);
  }
  return std::string(path);
}

}  // namespace attune
