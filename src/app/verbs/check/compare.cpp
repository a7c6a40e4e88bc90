#include "app/verbs/check/compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "compiler/graph/depth.h"

namespace attune::verbs {
namespace {

using runtime::Tensor;

double element(const Tensor& tensor, std::int64_t index) {
  return runtime::read_element(tensor.data(), tensor.type(), index);
}

double largest_magnitude(const Tensor& tensor) {
  double largest = 0;
  for (std::int64_t i = 0; i < tensor.elements(); ++i) {
    const double value = std::abs(element(tensor, i));
    if (std::isfinite(value)) largest = std::max(largest, value);
  }
  return largest;
}

double error_of(double actual, double expected) {
  if (actual == expected || (std::isnan(actual) && std::isnan(expected))) return 0;
  const double error = std::abs(actual - expected);
  return std::isnan(error) ? std::numeric_limits<double>::infinity() : error;
}

void wrong(CheckCase& result, std::string why) {
  if (result.status != CheckStatus::Wrong) result.message = std::move(why);
  result.status = CheckStatus::Wrong;
}

}  // namespace

Tolerance tolerance_in(ops::Precision precision, const graph::Graph& graph, runtime::DType type,
                       const Tolerance& in_f32) {
  if (precision == ops::Precision::F32 || !runtime::is_float(type)) return in_f32;
  const double own = ops::tolerance_of(precision, graph::depth_of(graph));
  return {std::max(own, in_f32.relative), in_f32.absolute, true};
}

std::int64_t compare(const NamedTensor& named, const Tensor& actual, const Tolerance& tolerance,
                     CheckCase& result) {
  const Tensor& expected = named.tensor;
  if (actual.type() != expected.type()) {
    wrong(result, fmt::format("output '{}' is {}, expected {}", named.name,
                              runtime::name_of(actual.type()), runtime::name_of(expected.type())));
    return 0;
  }
  if (!std::ranges::equal(actual.shape(), expected.shape())) {
    wrong(result,
          fmt::format("output '{}' has shape {}, expected {}", named.name,
                      runtime::shape_text(actual.shape()), runtime::shape_text(expected.shape())));
    return 0;
  }
  const double largest = largest_magnitude(expected);
  // Where large terms cancel, what remains of the expected value is rounding of the largest ones.
  const double rounding = runtime::is_float(expected.type()) ? 0x1p-24 * largest : 0;
  std::int64_t bad = 0, worst = 0, by_rounding = 0;
  double worst_excess = 0, max_error = 0;
  for (std::int64_t i = 0; i < expected.elements(); ++i) {
    const double wanted = element(expected, i);
    const double error = error_of(element(actual, i), wanted);
    max_error = std::max(max_error, error);
    const double scale = tolerance.of_largest ? largest : std::abs(wanted);
    const double relative = std::isfinite(scale) ? tolerance.relative * scale : 0;
    const double allowed = std::max(tolerance.absolute, rounding) + relative;
    if (error <= allowed) {
      if (error > tolerance.absolute + relative) ++by_rounding;
      continue;
    }
    ++bad;
    if (error / allowed <= worst_excess) continue;
    worst_excess = error / allowed;
    worst = i;
  }
  result.max_abs_error = std::max(result.max_abs_error, max_error);
  result.max_rel_error = std::max(result.max_rel_error, max_error / (largest > 0 ? largest : 1));
  if (bad == 0) return by_rounding;
  wrong(
      result,
      fmt::format("{} of {} elements of output '{}' differ; element {} is {:.9g}, expected {:.9g}",
                  bad, expected.elements(), named.name, worst, element(actual, worst),
                  element(expected, worst)));
  return by_rounding;
}

}  // namespace attune::verbs
