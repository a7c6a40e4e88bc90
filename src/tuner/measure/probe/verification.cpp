#include "tuner/measure/probe/verification.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>

namespace attune::probe {
namespace {

double error_of(double actual, double expected) {
  if (std::isnan(actual) && std::isnan(expected)) return 0.0;
  if (actual == expected) return 0.0;  // equal infinities
  const double error = std::abs(actual - expected);
  return std::isnan(error) ? std::numeric_limits<double>::infinity() : error;
}

double tolerance_of(const Verification& verification, double expected) {
  const double relative =
      std::isfinite(expected) ? verification.relative_tolerance * std::abs(expected) : 0.0;
  return verification.absolute_tolerance + relative;
}

}  // namespace

void read_samples(std::span<const Sample> samples, std::span<const Buffer> buffers,
                  std::span<const std::byte* const> data, std::span<double> values) {
  for (std::size_t i = 0; i < samples.size(); ++i) {
    const auto buffer = static_cast<std::size_t>(samples[i].buffer);
    values[i] = runtime::read_element(data[buffer], buffers[buffer].type, samples[i].index);
  }
}

Comparison compare(const Verification& verification, std::span<const Sample> samples,
                   std::span<const double> values) {
  Comparison result;
  double worst_excess = 0.0;
  for (std::size_t i = 0; i < samples.size(); ++i) {
    const Sample& sample = samples[i];
    const double actual = values[i];
    const double error = error_of(actual, sample.expected);
    const double excess = error - tolerance_of(verification, sample.expected);
    result.max_error = std::max(result.max_error, error);
    if (excess > worst_excess) {
      worst_excess = excess;
      result.right = false;
      result.worst = sample;
      result.worst_actual = actual;
    }
  }
  return result;
}

std::string describe_wrong(const Verification& verification, const Comparison& comparison) {
  const Sample& worst = comparison.worst;
  const double actual =  // the sign of a NaN says nothing
      std::isnan(comparison.worst_actual) ? std::nan("") : comparison.worst_actual;
  return fmt::format("buffer {} at element {} is {:.9g}, expected {:.9g} (tolerance {:.3g})",
                     worst.buffer, worst.index, actual, worst.expected,
                     tolerance_of(verification, worst.expected));
}

}  // namespace attune::probe
