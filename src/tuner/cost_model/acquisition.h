// How uncertainty counts when points are chosen for measuring: not at all, by a lower confidence
// bound, or by the improvement to expect over the best time known.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/result.h"

namespace attune::cost_model {

enum class Acquisition : std::uint8_t { Mean, Optimism, Improvement };

Result<Acquisition> parse_acquisition(std::string_view name);

struct AcquisitionRule {
  Acquisition kind = Acquisition::Optimism;
  double optimism = 0.7;  // standard deviations taken off

  // Less is better; `mean`, `deviation` and the `best` known are in log time.
  double score(double mean, double deviation, double best) const;
};

}  // namespace attune::cost_model
