// What operators say of themselves (compiler/ops/op_traits.h) is true of their meanings.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
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

TEST(Traits, WhatIsCommutativeBearsOtherPlacesAndGroups) {
  int checked = 0;
  for (const OpDef& def : ops::operators()) {
    if (!def.traits.commutative) continue;
    for (const Sample& sample : samples_of(def.name)) {
      const auto of = [&](const ops::ConstantPtr& a, const ops::ConstantPtr& b) {
        Sample one = sample;
        one.operands = {a, b};
        const auto values = meaning_of(one);
        EXPECT_TRUE(values.ok()) << sample.text;
        return values->front();
      };
      const ops::ConstantPtr &a = sample.operands[0], &b = sample.operands[1];
      EXPECT_EQ(difference_of({of(a, b)}, {of(b, a)}, 0), "") << sample.text;
      const double tolerance = ops::tolerance_of(a->type.dtype);
      EXPECT_EQ(difference_of({of(of(a, b), b)}, {of(a, of(b, b))}, tolerance), "") << sample.text;
      ++checked;
    }
  }
  EXPECT_GE(checked, 10);
}

// An operand with the numbers 0, 1, 2 … as its elements.
ops::ConstantPtr counted(const ops::TensorType& type) {
  ir::Array array(type.dtype, type.shape);
  for (std::int64_t i = 0; i < array.count(); ++i) array.set_real(i, static_cast<double>(i));
  return ops::make_constant(std::move(array));
}

// Each element is put at one place at most; where rows are kept, neighbours in them were
// neighbours.
TEST(Traits, WhatKeepsRowsDoes) {
  int kept = 0, cut = 0;
  for (const OpDef& def : ops::operators()) {
    if (def.traits.keeps_rows == nullptr) continue;
    int samples = 0;
    for (Sample sample : samples_of(def.name)) {
      const ops::TensorType type = sample.operands[0]->type;
      if (type.dtype != ir::kF32 || type.shape.empty() || type.elements() == 0) continue;
      sample.operands[0] = counted(type);
      const auto values = meaning_of(sample);
      ASSERT_TRUE(values.ok()) << sample.text;
      const ops::Constant& result = *values->front();
      if (result.type.shape.empty() || result.type.elements() == 0) continue;
      ++samples;
      std::set<double> seen;
      for (std::int64_t i = 0; i < result.type.elements(); ++i) {
        EXPECT_TRUE(seen.insert(result.real(i)).second) << sample.text << " copies an element";
      }
      if (!def.traits.keeps_rows(call_of(sample))) {
        ++cut;
        continue;
      }
      ++kept;
      const std::int64_t row = result.type.shape.back(), before = type.shape.back();
      for (std::int64_t i = 0; i + 1 < result.type.elements(); ++i) {
        if ((i + 1) % row == 0) continue;
        const auto place = static_cast<std::int64_t>(result.real(i));
        EXPECT_EQ(result.real(i + 1), result.real(i) + 1) << sample.text << " " << i;
        EXPECT_NE((place + 1) % before, 0) << sample.text << " " << i;
      }
    }
    EXPECT_GT(samples, 0) << def.name << " has no sample";
  }
  EXPECT_GT(kept, 0);
  EXPECT_GT(cut, 0);
}

// A call on an image with three channels that leaves them as they are.
Sample beside_channels(std::string op, ops::Attributes attributes) {
  Sample sample{.text = op + " of f32[1,3,5,2]", .op = std::move(op)};
  sample.attributes = std::move(attributes);
  sample.operands = {counted({ir::kF32, {1, 3, 5, 2}, {}})};
  return sample;
}

std::vector<Sample> samples_beside_channels() {
  using Numbers = std::vector<std::int64_t>;
  Sample resample = beside_channels("resample", {{"axis", std::int64_t{2}}});
  resample.operands.push_back(counted({ir::kI64, {2, 2}, {}}));
  resample.operands.push_back(counted({ir::kF32, {2, 2}, {}}));
  return {std::move(resample),
          beside_channels("slice", {{"starts", Numbers{0, 0, 1, 0}},
                                    {"steps", Numbers{1, 1, 2, 1}},
                                    {"shape", Numbers{1, 3, 2, 2}}}),
          beside_channels("concat", {{"axis", std::int64_t{3}}}),
          beside_channels("repeat", {{"repeats", Numbers{1, 1, 2, 3}}}),
          beside_channels("pad", {{"pads", Numbers{0, 0, 1, 0, 0, 0, 0, 2}},
                                  {"mode", std::string("constant")}})};
}

// Where a call does not work along the channels, another element changes its own channel alone.
TEST(Traits, WhatKeepsChannelsDoes) {
  std::set<std::string_view> checked, listed;
  for (const Sample& sample : samples_beside_channels()) {
    listed.insert(ops::find_operator(sample.op)->name);
    const auto before = meaning_of(sample);
    ASSERT_TRUE(before.ok()) << sample.text << ": " << before.error().message;
    const ops::TensorType type = sample.operands[0]->type, result = before->front()->type;
    ASSERT_EQ(result.shape[1], type.shape[1]) << sample.text;
    const std::int64_t of_channel = type.elements() / 3, of_result = result.elements() / 3;
    for (std::int64_t place = 0; place < type.elements(); ++place) {
      Sample changed = sample;
      ir::Array array = ops::to_array(*sample.operands[0]);
      array.set_real(place, -1);
      changed.operands[0] = ops::make_constant(std::move(array));
      const auto after = meaning_of(changed);
      ASSERT_TRUE(after.ok()) << sample.text;
      for (std::int64_t i = 0; i < result.elements(); ++i) {
        if (i / of_result == place / of_channel) continue;
        EXPECT_EQ(after->front()->real(i), before->front()->real(i)) << sample.text << " " << place;
      }
    }
  }
  for (const OpDef& def : ops::operators()) {
    if (def.traits.keeps_channels) checked.insert(def.name);
  }
  EXPECT_EQ(checked, listed) << "an operator that keeps channels has no sample here";
}

// Their results are made of their operands everywhere, so that none of these is a mere parameter.
TEST(Traits, WhatEnlargesIsMadeOfItsOperands) {
  int checked = 0;
  for (const OpDef& def : ops::operators()) {
    if (!def.traits.enlarges) continue;
    for (const Sample& sample : samples_of(def.name)) {
      if (sample.operands[0]->type.dtype != ir::kF32) continue;
      const auto filled = [&](double value) {
        Sample same = sample;
        for (ops::ConstantPtr& operand : same.operands) {
          if (!is_float(operand)) continue;
          ir::Array array(operand->type.dtype, operand->type.shape);
          for (std::int64_t i = 0; i < array.count(); ++i) array.set_real(i, value);
          operand = ops::make_constant(std::move(array));
        }
        return meaning_of(same);
      };
      const auto one = filled(1), other = filled(2);
      ASSERT_TRUE(one.ok() && other.ok()) << sample.text;
      for (std::int64_t i = 0; i < one->front()->type.elements(); ++i) {
        EXPECT_NE(one->front()->real(i), other->front()->real(i)) << sample.text << " " << i;
      }
      ++checked;
    }
  }
  EXPECT_GE(checked, 4);
}

// The sample with its border made part of the data.
Result<std::vector<ops::ConstantPtr>> meaning_when_padded(Sample sample, double value) {
  auto& pads = std::get<std::vector<std::int64_t>>(sample.attributes.at("pads"));
  std::vector<std::int64_t> all{0, 0};  // images and channels have no border
  const auto half = static_cast<std::ptrdiff_t>(pads.size() / 2);
  all.insert(all.end(), pads.begin(), pads.begin() + half);
  all.insert(all.end(), {0, 0});
  all.insert(all.end(), pads.begin() + half, pads.end());
  Sample pad{.text = sample.text, .op = "pad"};
  pad.attributes = {{"pads", all}, {"mode", std::string("constant")}};
  ir::Array fill(sample.operands[0]->type.dtype, {});
  fill.set_real(0, value);
  pad.operands = {sample.operands[0], ops::make_constant(std::move(fill))};
  auto padded = meaning_of(pad);
  if (!padded.ok()) return padded.error();
  sample.operands[0] = padded->front();
  for (const char* name : {"pads", "counted_pads"}) {
    const auto found = sample.attributes.find(name);
    if (found != sample.attributes.end()) found->second = std::vector<std::int64_t>(pads.size(), 0);
  }
  return meaning_of(sample);
}

TEST(Traits, WindowsSeeWhatIsSaidBeyondTheBorder) {
  int checked = 0;
  for (const OpDef& def : ops::operators()) {
    if (def.traits.pads_with == ops::PadValue::None) continue;
    int samples = 0;
    for (const Sample& sample : samples_of(def.name)) {
      const ops::OpCall call = call_of(sample);
      const auto& pads = call.integers("pads");
      const bool counts = !sample.attributes.contains("counted_pads") ||
                          call.integers("counted_pads") == pads;  // others leave the border out
      if (sample.type != ir::kF32 || !counts || sample.operands[0]->type.elements() == 0 ||
          *std::min_element(pads.begin(), pads.end()) < 0) {
        continue;
      }
      const double value = def.traits.pads_with == ops::PadValue::Zero
                               ? 0
                               : static_cast<double>(std::numeric_limits<float>::lowest());
      const auto own = meaning_of(sample), padded = meaning_when_padded(sample, value);
      ASSERT_TRUE(own.ok() && padded.ok()) << sample.text;
      EXPECT_EQ(difference_of(*own, *padded, 1e-6), "") << sample.text;
      ++samples;
    }
    EXPECT_GT(samples, 0) << def.name << " has no sample with a border";
    ++checked;
  }
  EXPECT_GE(checked, 4);
}

}  // namespace
}  // namespace attune::test
