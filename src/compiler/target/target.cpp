#include "compiler/target/target.h"

#include <fmt/format.h>

#include <algorithm>

namespace attune::target {

std::string_view Target::attribute(std::string_view name) const {
  const auto found = std::find_if(attributes.begin(), attributes.end(),
                                  [&](const auto& each) { return each.first == name; });
  return found == attributes.end() ? std::string_view() : std::string_view(found->second);
}

void Target::set(std::string_view name, std::string_view value) {
  const auto found = std::find_if(attributes.begin(), attributes.end(),
                                  [&](const auto& each) { return each.first == name; });
  if (found == attributes.end()) {
    attributes.emplace_back(name, value);
  } else {
    found->second = value;
  }
}

std::string to_string(const Target& target) {
  std::string text = target.kind;
  for (const auto& [name, value] : target.attributes) {
    if (!value.empty()) text += fmt::format(" -{}={}", name, value);
  }
  if (target.threads > 0) text += fmt::format(" -threads={}", target.threads);
  return text;
}

}  // namespace attune::target
