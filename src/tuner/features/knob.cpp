// The numbers of a configuration on a log scale, after the number of the alternative. Alternatives
// share the columns: a tree first asks which one it is.
#include <algorithm>
#include <cmath>

#include "base/check.h"
#include "tuner/features/features.h"
#include "tuner/features/kinds.h"

namespace attune::features {
namespace {

// All choices of a knob have as many numbers as its first.
std::size_t numbers_of(const space::Knob& knob) { return knob.choices.front().numbers.size(); }

float encode(space::KnobKind kind, std::int64_t number) {
  if (kind == space::KnobKind::Reorder) return static_cast<float>(number);
  const float size = std::log2(1.0F + static_cast<float>(std::abs(number)));
  return number < 0 ? -size : size;
}

}  // namespace

std::size_t knob_width(const space::Space& space) {
  std::size_t widest = 0;
  for (std::uint32_t a = 0; a < space.alternatives(); ++a) {
    std::size_t numbers = 0;
    for (const space::Knob& knob : space.knobs(a)) numbers += numbers_of(knob);
    widest = std::max(widest, numbers);
  }
  return 1 + widest;
}

void extract_knobs(const space::Space& space, const space::Point& point, std::span<float> out) {
  std::fill(out.begin(), out.end(), 0.0F);
  out[0] = static_cast<float>(point.alternative);
  const std::vector<space::Knob>& knobs = space.knobs(point.alternative);
  CHECK(point.choices.size() == knobs.size(), "a point has one choice per knob");
  std::size_t column = 1;
  for (std::size_t k = 0; k < knobs.size(); ++k) {
    const space::Choice& choice = knobs[k].choices[point.choices[k]];
    const std::size_t count = numbers_of(knobs[k]);
    CHECK(column + count <= out.size(), "knob features do not fit");
    for (std::size_t i = 0; i < std::min(count, choice.numbers.size()); ++i) {
      out[column + i] = encode(knobs[k].kind, choice.numbers[i]);
    }
    column += count;
  }
}

}  // namespace attune::features
