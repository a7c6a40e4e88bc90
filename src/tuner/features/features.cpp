#include "tuner/features/features.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>

namespace attune::features {
namespace {

constexpr std::array<std::string_view, 3> kNames{"knob", "context", "relation"};

}  // namespace

std::string_view to_string(Kind kind) { return kNames[static_cast<std::size_t>(kind)]; }

Result<Kind> parse_kind(std::string_view name) {
  for (std::size_t i = 0; i < kNames.size(); ++i) {
    if (kNames[i] == name) return static_cast<Kind>(i);
  }
  return invalid(fmt::format("unknown features '{}'", name),
                 fmt::format("features are {}", fmt::join(kNames, ", ")));
}

}  // namespace attune::features
