// Random small graphs compute the same before and after each pass, and all of them.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>

#include "compiler/graph/depth.h"
#include "compiler/graph/passes/interpret_testing.h"
#include "compiler/graph/passes/passes.h"

namespace attune::graph {
namespace {

using Shape = std::vector<std::int64_t>;

class RandomGraph {
 public:
  explicit RandomGraph(unsigned seed) : random_(seed), builder_("random") {
    for (const char* name : {"x", "y"}) {
      values_.push_back(builder_.input(name, {ir::kF32, {1, 4, 3, 4}, {}}));
    }
  }

  Graph make(int nodes) {
    for (int i = 0; i < nodes; ++i) add_node();
    std::vector<ValueId> outputs{values_.back()};
    if (below(3) == 0) outputs.push_back(values_[values_.size() / 2]);
    for (ValueId& id : outputs) {
      if (builder_.constant_of(id) != nullptr || id < 2)
        id = *builder_.add("mul", {id, values_[0]});
    }
    if (outputs.size() == 2 && outputs[0] == outputs[1]) outputs.pop_back();
    return std::move(builder_).finish(outputs);
  }

 private:
  int below(int limit) { return static_cast<int>(random_() % static_cast<unsigned>(limit)); }
  // Rather a late value, so that chains come about.
  ValueId pick() {
    const auto count = static_cast<int>(values_.size());
    return values_[static_cast<std::size_t>(count - 1 - below(below(2) == 0 ? 1 : count))];
  }
  ValueId constant(const Shape& shape) {
    const TensorType type{ir::kF32, shape, {}};
    const int kind = below(5);
    if (kind < 2) return builder_.constant(ops::filled_constant(type, kind));
    return builder_.constant(random_constant(type, static_cast<unsigned>(random_())));
  }
  // A shape that broadcasts to `shape`.
  Shape operand_shape(Shape shape) {
    for (std::int64_t& extent : shape) extent = below(2) == 0 ? 1 : extent;
    shape.erase(shape.begin(), shape.begin() + below(static_cast<int>(shape.size()) + 1));
    return shape;
  }

  void add_node() {
    switch (below(14)) {
      case 0:
      case 1:
        return arithmetic();
      case 2:
      case 3:
        return with_constant();
      case 4:
        return unary();
      case 5:
      case 6:
        return transpose();
      case 7:
        return reshape();
      case 8:
        return slice();
      case 9:
        return pad();
      case 10:
        return concat();
      case 11:
        return conv();
      case 12:
        return matmul();
      default:
        return norm();
    }
  }

  void keep(Result<ValueId> made) {
    if (made.ok() && builder_.type(*made).elements() < 4000) values_.push_back(*made);
  }

  void arithmetic() {
    constexpr const char* kOperators[] = {"add", "sub", "mul", "max"};
    keep(builder_.add(kOperators[below(4)], {pick(), pick()}));
  }
  void with_constant() {
    constexpr const char* kOperators[] = {"add", "sub", "mul", "mul", "min"};
    const ValueId x = pick(), c = constant(operand_shape(builder_.shape(x)));
    const bool swapped = below(3) == 0;
    keep(builder_.add(kOperators[below(5)], {swapped ? c : x, swapped ? x : c}));
  }
  void unary() {
    constexpr const char* kOperators[] = {"relu", "sigmoid", "tanh", "neg", "abs"};
    keep(builder_.add(kOperators[below(5)], {pick()}));
  }
  void transpose() {
    const ValueId x = pick();
    Shape perm(builder_.shape(x).size());
    std::iota(perm.begin(), perm.end(), 0);
    std::shuffle(perm.begin(), perm.end(), random_);
    keep(builder_.add("transpose", {x}, {{"perm", perm}}));
  }
  void reshape() {
    const ValueId x = pick();
    Shape shape = builder_.shape(x);
    if (below(2) == 0 && shape.size() > 1) {  // merge two dimensions
      const auto d = static_cast<std::size_t>(below(static_cast<int>(shape.size()) - 1));
      shape[d] *= shape[d + 1];
      shape.erase(shape.begin() + static_cast<std::ptrdiff_t>(d) + 1);
    } else {
      shape.insert(shape.begin() + below(static_cast<int>(shape.size()) + 1), 1);
    }
    if (shape.size() < 6) keep(builder_.add("reshape", {x}, {{"shape", shape}}));
  }
  void slice() {
    const ValueId x = pick();
    Shape shape = builder_.shape(x), starts(shape.size(), 0), steps(shape.size(), 1);
    for (std::size_t d = 0; d < shape.size(); ++d) {
      if (below(3) != 0 || shape[d] < 2) continue;
      starts[d] = below(static_cast<int>(shape[d]));
      shape[d] -= starts[d];
    }
    keep(builder_.add("slice", {x}, {{"starts", starts}, {"steps", steps}, {"shape", shape}}));
  }
  void pad() {
    const ValueId x = pick();
    Shape pads(2 * builder_.shape(x).size(), 0);
    for (std::int64_t& amount : pads) amount = below(4) == 0 ? 1 : 0;
    keep(builder_.add("pad", {x}, {{"pads", pads}, {"mode", "constant"}}));
  }
  void concat() {
    const ValueId x = pick(), y = pick();
    const auto rank = static_cast<int>(builder_.shape(x).size());
    if (rank > 0) keep(builder_.add("concat", {x, y}, {{"axis", std::int64_t{below(rank)}}}));
  }
  void conv() {
    const ValueId x = pick();
    const Shape& shape = builder_.shape(x);
    if (shape.size() != 4 || shape[2] < 2 || shape[3] < 2) return;
    const std::int64_t channels = 1 + below(4);
    std::vector<ValueId> inputs{x, constant({channels, shape[1], 2, 2})};
    if (below(2) == 0) inputs.push_back(constant({channels}));
    keep(builder_.add("conv", inputs,
                      {{"kernel_shape", Shape{2, 2}},
                       {"strides", Shape{1, 1 + below(2)}},
                       {"pads", Shape{below(2), below(2), below(2), below(2)}},
                       {"dilations", Shape{1, 1}},
                       {"group", std::int64_t{1}}}));
  }
  void matmul() {
    const ValueId x = pick();
    if (builder_.shape(x).size() < 2) return;
    const std::int64_t columns = builder_.shape(x).back();
    keep(builder_.add("matmul", {x, constant({columns, 1 + below(5)})}));
  }
  void norm() {
    const ValueId x = pick();
    const Shape& shape = builder_.shape(x);
    if (shape.size() < 2) return;
    const Shape channels{shape[1]};
    const ValueId variance = builder_.constant(ops::filled_constant({ir::kF32, channels, {}}, 2));
    keep(builder_.add("batch_norm",
                      {x, constant(channels), constant(channels), constant(channels), variance},
                      {{"epsilon", 0.125}}));
  }

  std::mt19937 random_;
  Builder builder_;
  std::vector<ValueId> values_;
};

class RandomGraphs : public testing::TestWithParam<unsigned> {};

TEST_P(RandomGraphs, ComputeTheSame) {
  for (unsigned seed = GetParam(); seed < GetParam() + 50; ++seed) {
    const Graph graph = RandomGraph(seed).make(14);
    Graph last = graph;
    PassOptions options;
    options.observe = [&](std::string_view pass, const Graph& after, double /*ms*/) {
      const std::string wrong = difference(last, after, 1e-4);
      if (!wrong.empty()) {
        ADD_FAILURE() << "seed " << seed << ", " << pass << ": " << wrong << "\n"
                      << to_string(last) << to_string(after);
      }
      last = after;
    };
    const auto after = optimise(graph, options);
    ASSERT_TRUE(after.ok()) << after.error().message;
    EXPECT_EQ(difference(graph, *after, 1e-4), "") << "seed " << seed;
    EXPECT_LE(after->nodes.size(), 2 * graph.nodes.size());
  }
}

// Roundings of 16 bits may be all that is left where values cancel: what counts is that the graph
// is whole, and that most results are near.
TEST_P(RandomGraphs, AreNearlyTheSameInSixteenBits) {
  for (const ops::Precision precision : {ops::Precision::F16, ops::Precision::BF16}) {
    int near = 0;
    for (unsigned seed = GetParam(); seed < GetParam() + 50; ++seed) {
      const Graph graph = RandomGraph(seed).make(14);
      const auto after = optimise(graph, {.context = {.precision = precision}});
      ASSERT_TRUE(after.ok()) << after.error().message;
      const double tolerance = 2 * ops::tolerance_of(precision, depth_of(graph));
      if (difference(graph, *after, tolerance).empty()) ++near;
    }
    EXPECT_GE(near, 47) << ops::name_of(precision);
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomGraphs, testing::Values(1U, 1001U, 2001U, 3001U));

}  // namespace
}  // namespace attune::graph
