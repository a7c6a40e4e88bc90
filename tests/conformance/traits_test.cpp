// What operators say of themselves (compiler/ops/op_traits.h) is true of their meanings.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "compiler/ops/precision.h"
#include "tests/support/operator_samples.h"

namespace attune::test {
namespace {

using ops::OpDef;
using ops::Zeros;

// The sample with `change` applied to every element of the first operand.
Sample with_first(Sample sample, double (*change)(double)) {
  ir::Array array = ops::to_array(*sample.operands[0]);
  for (std::int64_t i = 0; i < array.count(); ++i) array.set_real(i, change(array.real(i)));
  sample.operands[0] = ops::make_constant(std::move(array));
  return sample;
}

bool all_elements(const ops::Constant& constant, bool (*holds)(double)) {
  for (std::int64_t i = 0; i < constant.type.elements(); ++i) {
    if (!holds(constant.real(i))) return false;
  }
  return true;
}

bool is_float(const ops::ConstantPtr& value) {
  return value != nullptr && value->type.dtype.is_float();
}

// Whether zeros in the first operand give zeros, in all samples that are floats in and out.
struct Zeroness {
  int samples = 0;
  bool keeps = true;
};
Zeroness zeroness_of(const OpDef& def) {
  Zeroness result;
  for (const Sample& sample : samples_of(def.name)) {
    if (sample.operands.empty() || !is_float(sample.operands[0])) continue;
    const auto values = meaning_of(with_first(sample, [](double) { return 0.0; }));
    if (!values.ok() || !is_float(values->front())) continue;
    ++result.samples;
    result.keeps &= all_elements(*values->front(), [](double x) { return x == 0; });
  }
  return result;
}

bool keeps_zeros_of_the_first(Zeros rule) {
  return rule == Zeros::First || rule == Zeros::Product || rule == Zeros::Square ||
         rule == Zeros::Root || rule == Zeros::Quotient;
}

TEST(Traits, OperatorsThatKeepZerosDo) {
  int checked = 0;
  for (const OpDef& def : ops::operators()) {
    if (!keeps_zeros_of_the_first(def.traits.zeros)) continue;
    const Zeroness zeroness = zeroness_of(def);
    EXPECT_GT(zeroness.samples, 0) << def.name << " has no sample with floats";
    EXPECT_TRUE(zeroness.keeps) << def.name << " says that it keeps zeros, and does not";
    ++checked;
  }
  EXPECT_GE(checked, 40);
}

TEST(Traits, FunctionsThatKeepZerosSaySo) {
  for (const OpDef& def : ops::operators()) {
    if (def.kind != ops::OpKind::Elementwise || def.traits.zeros != Zeros::Lost) continue;
    const Zeroness zeroness = zeroness_of(def);
    EXPECT_FALSE(zeroness.samples > 0 && zeroness.keeps)
        << def.name << " keeps zeros, and does not say so";
  }
}

TEST(Traits, FiniteOperatorsAreFinite) {
  int checked = 0;
  for (const OpDef& def : ops::operators()) {
    if (!def.traits.finite) continue;
    for (const Sample& sample : samples_of(def.name)) {
      const bool is_finite =
          all_elements(*sample.operands[0], [](double x) { return std::isfinite(x); });
      if (!is_float(sample.operands[0]) || !is_finite) continue;
      for (const auto change : {+[](double) { return 0.0; }, +[](double x) { return 100 * x; }}) {
        const auto values = meaning_of(with_first(sample, change));
        ASSERT_TRUE(values.ok()) << sample.text;
        EXPECT_TRUE(all_elements(*values->front(), [](double x) { return std::isfinite(x); }))
            << sample.text;
        ++checked;
      }
    }
  }
  EXPECT_GE(checked, 36);
}

TEST(Traits, WhatIsNeverNegativeIsNot) {
  int checked = 0;
  for (const OpDef& def : ops::operators()) {
    if (!def.traits.never_negative) continue;
    for (const Sample& sample : samples_of(def.name)) {
      const auto values = meaning_of(sample);
      ASSERT_TRUE(values.ok()) << sample.text;
      EXPECT_TRUE(all_elements(*values->front(), [](double x) { return !(x < 0); })) << sample.text;
      ++checked;
    }
  }
  EXPECT_GE(checked, 7);
}

// Another element of the first operand changes no element but the one at its own place.
TEST(Traits, WhatStaysInPlaceDoes) {
  int checked = 0;
  for (const OpDef& def : ops::operators()) {
    if (!def.traits.stays_in_place) continue;
    for (const Sample& sample : samples_of(def.name)) {
      const auto before = meaning_of(sample);
      ASSERT_TRUE(before.ok()) << sample.text;
      ASSERT_EQ(before->front()->type, sample.operands[0]->type) << sample.text;
      for (std::int64_t place = 0; place < sample.operands[0]->type.elements(); ++place) {
        Sample changed = sample;
        ir::Array array = ops::to_array(*sample.operands[0]);
        array.set_real(place, array.real(place) + 1);
        changed.operands[0] = ops::make_constant(std::move(array));
        const auto after = meaning_of(changed);
        ASSERT_TRUE(after.ok()) << sample.text;
        for (std::int64_t i = 0; i < before->front()->type.elements(); ++i) {
          if (i == place) continue;
          EXPECT_EQ(after->front()->real(i), before->front()->real(i)) << sample.text << " " << i;
        }
      }
      ++checked;
    }
  }
  EXPECT_GE(checked, 3);
}

// In the type of 16 bits, where operands are f32.
Sample narrowed(Sample sample, ir::DType type) {
  for (ops::ConstantPtr& operand : sample.operands) {
    if (operand == nullptr || operand->type.dtype != ir::kF32) continue;
    ir::Array array(type, operand->type.shape);
    for (std::int64_t i = 0; i < array.count(); ++i) array.set_real(i, operand->real(i));
    operand = ops::make_constant(std::move(array));
  }
  return sample;
}

TEST(Traits, WhatMayBeNarrowLosesLittle) {
  int checked = 0;
  for (const OpDef& def : ops::operators()) {
    if (!def.traits.narrow) continue;
    for (const Sample& sample : samples_of(def.name)) {
      if (sample.operands.empty() || sample.operands[0] == nullptr) continue;
      const auto wide = meaning_of(sample);
      ASSERT_TRUE(wide.ok()) << sample.text;
      if (wide->front()->type.dtype != ir::kF32) continue;
      const auto narrow = meaning_of(narrowed(sample, ir::kF16));
      ASSERT_TRUE(narrow.ok()) << sample.text << ": " << narrow.error().message;
      EXPECT_EQ(narrow->front()->type.dtype, ir::kF16) << sample.text;
      double largest = 0, error = 0;
      for (std::int64_t i = 0; i < wide->front()->type.elements(); ++i) {
        const double wanted = wide->front()->real(i), got = narrow->front()->real(i);
        if (!std::isfinite(wanted)) continue;
        largest = std::max(largest, std::abs(wanted));
        error = std::max(error, std::abs(wanted - got));
      }
      EXPECT_LE(error, 2 * ops::tolerance_of(ir::kF16) * largest) << sample.text;
      ++checked;
    }
  }
  EXPECT_GE(checked, 40);
}

// A call that says it does nothing gives its first operand.
TEST(Traits, WhatDoesNothingDoesNothing) {
  int does_nothing = 0;
  for (const OpDef& def : ops::operators()) {
    if (def.traits.does_nothing == nullptr) continue;
    for (const Sample& sample : samples_of(def.name)) {
      const ops::OpCall call = call_of(sample);
      const auto types = def.infer(call);
      ASSERT_TRUE(types.ok()) << sample.text;
      if ((*types)[0] != call.inputs[0]) continue;
      const auto values = meaning_of(sample);
      ASSERT_TRUE(values.ok()) << sample.text;
      const bool same = difference_of({sample.operands[0]}, *values, 0).empty();
      EXPECT_TRUE(same || !def.traits.does_nothing(call)) << sample.text;
      does_nothing += def.traits.does_nothing(call) ? 1 : 0;
    }
  }
  EXPECT_GT(does_nothing, 0);
}

}  // namespace
}  // namespace attune::test
