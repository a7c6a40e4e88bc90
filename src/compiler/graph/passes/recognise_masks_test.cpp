// Constant masks that are bands become a rule, and mean the same; others stay.
#include <gtest/gtest.h>

#include <limits>
#include <numeric>

#include "compiler/graph/passes/interpret_testing.h"
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

// Masks that exporters write out, too large to be computed while passes run.
class WrittenOut {
 private:
  static constexpr std::int64_t kRowsHere = 300, kColumnsHere = 310;
  Builder builder_{"written_out"};

 public:
  ValueId scores;

  WrittenOut() {
    const ValueId x = builder_.input("x", {ir::kF32, {1, kRowsHere, 2}, {}});
    const ValueId y = builder_.input("y", {ir::kF32, {1, 2, kColumnsHere}, {}});
    scores = *builder_.add("matmul", {x, y});
  }
  ValueId operator()(const std::string& op, std::vector<ValueId> inputs,
                     ops::Attributes attributes = {}) {
    return *builder_.add(op, std::move(inputs), std::move(attributes));
  }
  ValueId number(double value, ir::DType type = ir::kF32) {
    return builder_.constant(ops::scalar_constant(type, value));
  }
  ValueId full(double value, ir::DType type = ir::kF32) {
    return (*this)("expand", {number(value, type)}, {{"shape", Shape{kRowsHere, kColumnsHere}}});
  }
  // 0, 1, … along rows, as a column, or along columns, as a row.
  ValueId positions(bool of_rows) {
    const std::int64_t count = of_rows ? kRowsHere : kColumnsHere;
    Shape values(static_cast<std::size_t>(count));
    std::iota(values.begin(), values.end(), 0);
    const ValueId line = builder_.constant(ops::make_constant(values));
    if (!of_rows) return line;
    return (*this)("reshape", {line}, {{"shape", Shape{count, 1}}});
  }
  // The band that is found, "" for none.
  std::string band(ValueId masked) {
    const ValueId weights = *builder_.add("softmax", {masked}, {{"axis", std::int64_t{2}}});
    const Graph graph = std::move(builder_).finish({weights});
    const auto after = optimise(graph);
    EXPECT_TRUE(after.ok()) << after.error().message;
    EXPECT_EQ(difference(graph, *after), "");
    for (const Node& node : after->nodes) {
      if (node.op != "band_mask") continue;
      for (const char* left : {"add", "where", "trilu", "expand", "less", "and"}) {
        EXPECT_EQ(to_string(*after).find(std::string(" = ") + left), std::string::npos)
            << to_string(*after);
      }
      return std::to_string(std::get<std::int64_t>(node.attributes.at("low"))) + ".." +
             std::to_string(std::get<std::int64_t>(node.attributes.at("high")));
    }
    return "";
  }
};

TEST(RecogniseMasks, TrianglesThatAreWrittenOut) {
  {  // where(tril(ones), 0, -inf), as scaled_dot_product_attention is exported
    WrittenOut m;
    const ValueId lower =
        m("trilu", {m.full(1), m.number(0, ir::kI64)}, {{"upper", std::int64_t{0}}});
    const ValueId seen = m("cast", {lower}, {{"to", std::string("bool")}});
    const ValueId mask = m("where", {seen, m.number(0), m.number(-kInfinity)});
    EXPECT_EQ(m.band(m("add", {m.scores, mask})), "-299..0");
  }
  {  // triu(full(lowest), 1)
    WrittenOut m;
    const ValueId upper = m("trilu", {m.full(-3.4028234663852886e38), m.number(1, ir::kI64)},
                            {{"upper", std::int64_t{1}}});
    EXPECT_EQ(m.band(m("add", {m.scores, upper})), "-299..0");
  }
  {  // (1 - tril(ones)) * -1e9
    WrittenOut m;
    const ValueId lower =
        m("trilu", {m.full(1), m.number(3, ir::kI64)}, {{"upper", std::int64_t{0}}});
    const ValueId mask = m("mul", {m("sub", {m.number(1), lower}), m.number(-1e9)});
    EXPECT_EQ(m.band(m("add", {m.scores, mask})), "-299..3");
  }
}

TEST(RecogniseMasks, ComparisonsOfPositions) {
  {  // where(column <= row + 10, scores, -inf)
    WrittenOut m;
    const ValueId rows = m("add", {m.positions(true), m.number(10, ir::kI64)});
    const ValueId seen = m("less_or_equal", {m.positions(false), rows});
    EXPECT_EQ(m.band(m("where", {seen, m.scores, m.number(-kInfinity)})), "-299..10");
  }
  {  // where(column > row, -inf, scores)
    WrittenOut m;
    const ValueId hidden = m("greater", {m.positions(false), m.positions(true)});
    EXPECT_EQ(m.band(m("where", {hidden, m.number(-kInfinity), m.scores})), "-299..0");
  }
  {  // a window: row - 8 <= column and column < row + 1
    WrittenOut m;
    const ValueId from = m("sub", {m.positions(true), m.number(8, ir::kI64)});
    const ValueId to = m("add", {m.positions(true), m.number(1, ir::kI64)});
    const ValueId seen = m("and", {m("less_or_equal", {from, m.positions(false)}),
                                   m("less", {m.positions(false), to})});
    EXPECT_EQ(m.band(m("where", {seen, m.scores, m.number(-kInfinity)})), "-8..0");
  }
  {  // row < column sees nothing but what lies ahead; the last rows see it still
    WrittenOut m;
    const ValueId seen = m("less", {m.positions(true), m.positions(false)});
    EXPECT_EQ(m.band(m("where", {seen, m.scores, m.number(-kInfinity)})), "1..309");
  }
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
