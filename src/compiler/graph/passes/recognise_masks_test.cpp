// Constant masks that are bands become a rule, and mean the same; others stay.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "compiler/graph/passes/interpret_for_test.h"
#include "compiler/graph/passes/passes.h"

namespace attune::graph {
namespace {

using Shape = std::vector<std::int64_t>;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr std::int64_t kRows = 5, kColumns = 7;

class Masked {
 private:
  Builder builder_{"masked"};

 public:
  ValueId x, scores;

  Masked() {
    x = builder_.input("x", {ir::kF32, {2, kRows, 3}, {}});
    const ValueId y = builder_.input("y", {ir::kF32, {2, 3, kColumns}, {}});
    scores = *builder_.add("matmul", {x, y});
  }
  ValueId operator()(const std::string& op, std::vector<ValueId> inputs) {
    return *builder_.add(op, std::move(inputs));
  }
  ValueId number(double value) { return builder_.constant(ops::scalar_constant(ir::kF32, value)); }
  ValueId input(const std::string& name, Shape shape) {
    return builder_.input(name, {ir::kF32, std::move(shape), {}});
  }
  // `inside` for columns less rows within both, `outside` elsewhere.
  ValueId mask(std::int64_t low, std::int64_t high, double inside, double outside,
               ir::DType type = ir::kF32, Shape shape = {1, kRows, kColumns}) {
    ir::Array array(type, std::move(shape));
    for (std::int64_t n = 0; n < array.count(); ++n) {
      const std::int64_t distance = n % kColumns - n / kColumns;
      const double value = low <= distance && distance <= high ? inside : outside;
      type.is_float() ? array.set_real(n, value) : array.set_int(n, value != 0 ? 1 : 0);
    }
    return builder_.constant(ops::make_constant(std::move(array)));
  }
  // What the scores become.
  std::string recognised(ValueId masked) {
    const ValueId weights = *builder_.add("softmax", {masked}, {{"axis", std::int64_t{2}}});
    const Graph graph = std::move(builder_).finish({weights});
    const auto after = optimise(graph);
    EXPECT_TRUE(after.ok()) << after.error().message;
    EXPECT_EQ(difference(graph, *after), "");
    std::string found;
    for (const Node& node : after->nodes) {
      if (node.op == "matmul" || node.op == "softmax") continue;
      found += (found.empty() ? "" : " ") + node.op;
      if (node.op != "band_mask") continue;
      found += " " + std::to_string(std::get<std::int64_t>(node.attributes.at("low"))) + ".." +
               std::to_string(std::get<std::int64_t>(node.attributes.at("high")));
    }
    return found;
  }
};

TEST(RecogniseMasks, Sums) {
  for (const double outside : {-kInfinity, -3.4028234663852886e38, -1e9}) {
    Masked m;
    EXPECT_EQ(m.recognised(m("add", {m.scores, m.mask(-9, 0, 0, outside)})), "band_mask -4..0");
    Masked other;
    EXPECT_EQ(other.recognised(other("add", {other.mask(-9, 2, 0, outside), other.scores})),
              "band_mask -4..2");
  }
}

TEST(RecogniseMasks, WindowsAndWhatIsBehind) {
  Masked window;
  EXPECT_EQ(window.recognised(window("add", {window.scores, window.mask(-1, 1, 0, -kInfinity)})),
            "band_mask -1..1");
  Masked behind;
  EXPECT_EQ(behind.recognised(behind("add", {behind.scores, behind.mask(0, 9, 0, -kInfinity)})),
            "band_mask 0..6");
}

TEST(RecogniseMasks, Choices) {
  Masked m;
  EXPECT_EQ(m.recognised(m("where", {m.mask(-9, 0, 1, 0, ir::kBool), m.scores, m.number(-1e30)})),
            "band_mask -4..0");
  Masked other;
  EXPECT_EQ(other.recognised(other("where", {other.mask(-9, 0, 0, 1, ir::kBool),
                                             other.number(-kInfinity), other.scores})),
            "band_mask -4..0");
}

// Padding that the run knows is added by itself.
TEST(RecogniseMasks, SumsOfMasks) {
  Masked m;
  const ValueId padding = m.input("padding", {2, 1, kColumns});
  EXPECT_EQ(m.recognised(m("add", {m.scores, m("add", {m.mask(-9, 0, 0, -kInfinity), padding})})),
            "add band_mask -4..0");
}

TEST(RecogniseMasks, LeavesOthersAlone) {
  {  // a row that sees nothing is not a number, or the mean of all
    Masked m;
    EXPECT_EQ(m.recognised(m("add", {m.scores, m.mask(-9, -1, 0, -1e9)})), "add");
  }
  {  // one that is only lower
    Masked m;
    EXPECT_EQ(m.recognised(m("add", {m.scores, m.mask(-9, 0, 0, -100)})), "add");
  }
  {  // one that is more than a mask
    Masked m;
    EXPECT_EQ(m.recognised(m("add", {m.scores, m.mask(-9, 0, 1, -1e9)})), "add");
  }
  {  // where another mask may be as low, finite ones say something about those rows
    Masked m;
    const ValueId padded = m("add", {m.scores, m.input("padding", {2, 1, kColumns})});
    EXPECT_EQ(m.recognised(m("add", {padded, m.mask(-9, 0, 0, -1e9)})), "add add");
  }
  {  // one mask for each batch
    Masked m;
    EXPECT_EQ(m.recognised(m(
                  "add", {m.scores, m.mask(-9, 0, 0, -kInfinity, ir::kF32, {2, kRows, kColumns})})),
              "add");
  }
}

}  // namespace
}  // namespace attune::graph
