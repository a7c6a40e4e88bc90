#include "tuner/features/features.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>

#include "base/check.h"
#include "tuner/features/kinds.h"

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

std::size_t width(Kind kind) {
  CHECK(kind != Kind::Knob, "the width of knob features depends on the space");
  return kind == Kind::Context ? context_width() : relation_width();
}

std::size_t width(Kind kind, const space::Space& space) {
  return kind == Kind::Knob ? knob_width(space) : width(kind);
}

void extract(Kind kind, const space::Scheduled& scheduled, const target::Target& target,
             std::span<float> out) {
  CHECK(out.size() == width(kind), "features are written into a vector of their width");
  if (kind == Kind::Context) return extract_context(scheduled, target, out);
  extract_relation(scheduled, target, out);
}

}  // namespace attune::features
