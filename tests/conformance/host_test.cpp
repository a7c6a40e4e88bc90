// The runtime's functions for tensors whose size depends on data are written a second time, as the
// runtime knows no compiler: on every sample of an operator they give what the operator means.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "compiler/model/ahead.h"
#include "compiler/ops/element_types.h"
#include "runtime/host/host.h"
#include "runtime/host/operators.h"
#include "tests/support/operator_samples.h"

namespace attune::test {
namespace {

// Functions that stand for no operator of graphs, and why no sample compares them.
const std::map<std::string_view, std::string_view>& others() {
  static const std::map<std::string_view, std::string_view> table{
      {"CastLike", "a cast whose type is an operand's"},
      {"ConstantOfShape", "sizes are data"},
      {"Flatten", "a reshape"},
      {"Mean", "a sum and a quotient"},
      {"Pad", "sizes are data"},
      {"Range", "sizes are data"},
      {"Scatter", "ScatterElements under its old name"},
      {"Shape", "sizes are data"},
      {"Size", "sizes are data"},
      {"Slice", "sizes are data"},
      {"Split", "several slices"},
      {"Squeeze", "a reshape"},
      {"Sum", "additions"},
      {"Unsqueeze", "a reshape"},
  };
  return table;
}

const ops::OpDef* operator_of(std::string_view host) {
  for (const ops::OpDef& def : ops::operators()) {
    if (ops::host_name(def) == host) return &def;
  }
  return nullptr;
}

class HostOperators : public ::testing::TestWithParam<std::string_view> {};

TEST_P(HostOperators, MeanWhatTheOperatorMeans) {
  const ops::OpDef* def = operator_of(GetParam());
  if (others().count(GetParam()) != 0) {
    EXPECT_EQ(def, nullptr) << "has an operator after all";
    return;
  }
  ASSERT_NE(def, nullptr) << "stands for no operator, and the table above does not say why";
  if (def->kind == ops::OpKind::Host) return;  // the meaning itself
  int compared = 0;
  for (const Sample& sample : samples_of(def->name)) {
    const ops::OpCall call = call_of(sample);
    const auto expected = meaning_of(sample);
    ASSERT_TRUE(expected.ok()) << sample.text << ": " << expected.error().message;
    const auto found = model::run_host_on_constants(call);
    ASSERT_TRUE(found.ok()) << sample.text << ": " << found.error().message;
    const double tolerance = ops::tolerance_of(expected->front()->type.dtype);
    EXPECT_EQ(difference_of(*expected, *found, tolerance), "") << sample.text;
    ++compared;
  }
  EXPECT_GT(compared, 0);
}

std::vector<std::string_view> names() {
  std::vector<std::string_view> all;
  for (const runtime::host::Operator& op : runtime::host::operators()) all.push_back(op.name);
  return all;
}

INSTANTIATE_TEST_SUITE_P(All, HostOperators, ::testing::ValuesIn(names()),
                         [](const auto& test) { return std::string(test.param); });

}  // namespace
}  // namespace attune::test
