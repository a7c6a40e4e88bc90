// Comparing what a kernel wrote with expected values at sampled places.
#pragma once

#include <span>

#include "tuner/measure/probe/candidate.h"

namespace attune::probe {

struct Comparison {
  bool right = true;
  double max_error = 0.0;  // absolute; infinite when one side is NaN and the other is not
  // The worst wrong sample.
  Sample worst = {};
  double worst_actual = 0.0;
};

// What stands at the samples, in their order, in as much room as there are samples. `data` holds
// the first byte of each buffer.
void read_samples(std::span<const Sample> samples, std::span<const Buffer> buffers,
                  std::span<const std::byte* const> data, std::span<double> values);

// One value per sample; `samples` are those of the verification, or its fresh ones.
Comparison compare(const Verification& verification, std::span<const Sample> samples,
                   std::span<const double> values);

// "buffer 2 at element 7 is 1.5, expected 2 (tolerance 0.001)".
std::string describe_wrong(const Verification& verification, const Comparison& comparison);

}  // namespace attune::probe
