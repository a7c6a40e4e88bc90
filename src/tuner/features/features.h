// What a learned model sees of a schedule: vectors of fixed width. Knob features are the numbers of
// the chosen configuration and mean something within one space only; context features describe
// every loop around the stage that does most of the work; relation features summarise loops and
// the memory they touch by thresholds on a log scale, so that they can be compared across shapes,
// loop orders and operators (AutoTVM, Chen et al. 2018). Whoever stores vectors stores kVersion
// with them: those of another version are of no use.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "compiler/target/target.h"
#include "tuner/space/space.h"

namespace attune::features {

enum class Kind : std::uint8_t { Knob, Context, Relation };
std::string_view to_string(Kind kind);
Result<Kind> parse_kind(std::string_view name);

inline constexpr int kVersion = 1;

// Of context and relation features, whatever the space.
std::size_t width(Kind kind);
// Of any kind; knob features are as wide as the widest alternative of the space needs.
std::size_t width(Kind kind, const space::Space& space);

// Context or relation features into `out`, which has the width of the kind.
void extract(Kind kind, const space::Scheduled& scheduled, const target::Target& target,
             std::span<float> out);
// Knob features into `out`.
void extract_knobs(const space::Space& space, const space::Point& point, std::span<float> out);

}  // namespace attune::features
