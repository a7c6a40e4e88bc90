// What operators say of zeros and of noise in their place (ops::Zeros) is true of their meanings.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "tests/support/operator_samples.h"

namespace attune::test {
namespace {

using ops::Zeros;

// Rounding noise, of either sign; and what is as large as everything else.
constexpr double kNoise = 1e-6, kLarge = 0.1;

// The elements of each operand in turn; an operand without a number keeps its own.
using Fill = std::vector<std::optional<double>>;
constexpr std::nullopt_t kOwn = std::nullopt;

bool is_float(const ops::ConstantPtr& value) {
  return value != nullptr && value->type.dtype.is_float();
}

// All elements of the first result.
std::vector<double> results(Sample sample, const Fill& fill) {
  for (std::size_t i = 0; i < std::min(fill.size(), sample.operands.size()); ++i) {
    if (!fill[i] || !is_float(sample.operands[i])) continue;
    ir::Array array = ops::to_array(*sample.operands[i]);
    for (std::int64_t e = 0; e < array.count(); ++e) array.set_real(e, *fill[i]);
    sample.operands[i] = ops::make_constant(std::move(array));
  }
  const auto values = meaning_of(sample);
  EXPECT_TRUE(values.ok()) << sample.text;
  std::vector<double> all;
  if (!values.ok()) return all;
  for (std::int64_t e = 0; e < values->front()->type.elements(); ++e) {
    all.push_back(values->front()->real(e));
  }
  return all;
}

// Every element is as small as that; NaN is not.
bool within(const std::vector<double>& all, double most) {
  return std::all_of(all.begin(), all.end(), [&](double x) { return std::abs(x) <= most; });
}
bool are_zero(const std::vector<double>& all) { return within(all, 0); }

// Whether an element differs by as much as everything else does: also where one is no number.
bool far_apart(const std::vector<double>& one, const std::vector<double>& other) {
  for (std::size_t i = 0; i < one.size(); ++i) {
    if (one[i] != other[i] && !(std::abs(one[i] - other[i]) < kLarge)) return true;
  }
  return false;
}

// Whether noise in the place of zeros, of one sign or the other, becomes large.
bool sharpens(const Sample& sample, Fill zeros, std::size_t operand) {
  const std::vector<double> exact = results(sample, zeros);
  for (const double noise : {kNoise, -kNoise}) {
    zeros[operand] = noise;
    if (far_apart(exact, results(sample, zeros))) return true;
  }
  return false;
}

// Empty where the rule is true of the sample, whose first operand with a type of its own is float.
std::string flaw_of(Zeros rule, const Sample& sample) {
  switch (rule) {
    case Zeros::Lost:
    case Zeros::First:
      return {};  // traits_test.cpp
    case Zeros::All:
      return are_zero(results(sample, {0, 0, 0})) ? "" : "zeros of all operands are not kept";
    case Zeros::Sum:
      if (!are_zero(results(sample, {0, 0}))) return "zeros of both operands are not kept";
      if (are_zero(results(sample, {0, 1})) || are_zero(results(sample, {1, 0}))) {
        return "one operand does not hide the other";
      }
      return within(results(sample, {kNoise, 0}), 2 * kNoise) ? "" : "noise does not stay small";
    case Zeros::Product:
      if (!are_zero(results(sample, {0, kOwn})) || !are_zero(results(sample, {kOwn, 0}))) {
        return "zeros of an operand are not kept";
      }
      return within(results(sample, {kNoise, kNoise}), 2 * kNoise * kNoise) ? "" : "no square";
    case Zeros::Square:
      if (!are_zero(results(sample, {0}))) return "zeros are not kept";
      return within(results(sample, {kNoise}), 1e3 * kNoise * kNoise) ? "" : "no square";
    case Zeros::Root: {
      const std::vector<double> roots = results(sample, {kNoise});
      if (!are_zero(results(sample, {0}))) return "zeros are not kept";
      return within(roots, 2 * std::sqrt(kNoise)) && !within(roots, std::sqrt(kNoise) / 2)
                 ? ""
                 : "no root";
    }
    case Zeros::Power:
      if (!is_float(sample.operands[1])) return {};
      if (!are_zero(results(sample, {0, 2}))) return "zeros of the base are not kept";
      if (!within(results(sample, {kNoise, 0.5}), 2 * std::sqrt(kNoise))) return "no root";
      return far_apart(results(sample, {0, -1}), results(sample, {kNoise, -1}))
                 ? ""
                 : "a negative exponent does not make noise large";
    case Zeros::Floor:
      if (!are_zero(results(sample, {0, 0}))) return "zeros are not kept";
      if (!is_float(sample.operands[1])) return {};
      return results(sample, {0, 1}) == results(sample, {kNoise, 1})
                 ? ""
                 : "the second operand does not hide noise";
    case Zeros::Quotient:
      if (!are_zero(results(sample, {0, 1}))) return "zeros of the dividend are not kept";
      return sharpens(sample, {1, 0}, 1) ? "" : "a divisor of noise does no harm";
    case Zeros::Remainder:
      return sharpens(sample, {1, 0}, 1) ? "" : "a divisor of noise does no harm";
    case Zeros::Sharpened:
      return sharpens(sample, {0}, 0) ? "" : "noise stays small";
    case Zeros::Comparison:
      return sharpens(sample, {0, 0}, 0) && sharpens(sample, {0, 0}, 1)
                 ? ""
                 : "noise beside a zero changes nothing";
    case Zeros::Cast:
      if (!are_zero(results(sample, {0}))) return "zeros are not kept";
      if (call_of(sample).word("to") != "bool") return {};
      return sharpens(sample, {0}, 0) ? "" : "noise is false";
  }
  return "a rule that nobody checks";
}

// Where noise is far from being rounded away, so that what becomes of it is seen.
bool shows_noise(const Sample& sample) {
  return sample.type == ir::kF32 && !sample.operands.empty() &&
         std::any_of(sample.operands.begin(), sample.operands.end(), is_float);
}

class ZeroRules : public testing::TestWithParam<Zeros> {};

TEST_P(ZeroRules, AreTrueOfEveryOperatorThatHasThem) {
  int checked = 0;
  for (const ops::OpDef& def : ops::operators()) {
    if (def.traits.zeros != GetParam()) continue;
    int samples = 0;
    for (const Sample& sample : samples_of(def.name)) {
      if (!shows_noise(sample) || results(sample, {}).empty()) continue;
      EXPECT_EQ(flaw_of(def.traits.zeros, sample), "") << sample.text;
      ++samples;
    }
    EXPECT_GT(samples, 0) << def.name << " has no sample in f32";
    ++checked;
  }
  EXPECT_GT(checked, 0) << "no operator has the rule";
}

std::string name_of(const testing::TestParamInfo<Zeros>& info) {
  static constexpr const char* kNames[] = {
      "Lost",  "First", "All",      "Sum",       "Product",   "Square",     "Root",
      "Power", "Floor", "Quotient", "Remainder", "Sharpened", "Comparison", "Cast"};
  return kNames[static_cast<std::size_t>(info.param)];
}

INSTANTIATE_TEST_SUITE_P(Rules, ZeroRules,
                         testing::Values(Zeros::All, Zeros::Sum, Zeros::Product, Zeros::Square,
                                         Zeros::Root, Zeros::Power, Zeros::Floor, Zeros::Quotient,
                                         Zeros::Remainder, Zeros::Sharpened, Zeros::Comparison,
                                         Zeros::Cast),
                         name_of);

}  // namespace
}  // namespace attune::test
