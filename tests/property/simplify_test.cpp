// simplify(e) means what e means: at random points, for random index arithmetic, conditions,
// vectors and whole kernels; bounds_of holds all values.
#include "compiler/ir/simplify/simplify.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "base/hash.h"
#include "compiler/ir/interpret/evaluate.h"
#include "compiler/ir/interpret/interpret.h"
#include "compiler/ir/text/print.h"
#include "tests/support/random/random_ir.h"

namespace attune::test {
namespace {

using namespace ir;

// Evaluates all lanes of an integer expression over the variables.
class Evaluation {
 public:
  Evaluation(const std::vector<Variable>& variables, const Expr& e) : lanes_(e.type().lanes) {
    for (const Variable& v : variables) slots_.push_back(evaluator_.push_variable(v.name));
    node_ = *evaluator_.compile(e);
    frame_ = evaluator_.make_frame(failure_);
  }

  std::vector<std::int64_t> at(const std::vector<std::int64_t>& point) {
    for (std::size_t i = 0; i < point.size(); ++i) frame_.variables[slots_[i]].i = point[i];
    std::vector<std::int64_t> values;
    for (int lane = 0; lane < lanes_; ++lane) values.push_back(node_->run(frame_, lane).i);
    return values;
  }

 private:
  Evaluator evaluator_;
  std::vector<std::size_t> slots_;
  const Node* node_ = nullptr;
  std::optional<Error> failure_;
  Frame frame_;
  int lanes_;
};

void expect_same_values(RandomIr& random, const Expr& e, const Expr& simple,
                        const Expr& assumption) {
  Evaluation before(random.variables(), e), after(random.variables(), simple);
  Evaluation holds(random.variables(), assumption);
  for (int i = 0; i < 25; ++i) {
    const auto point = random.point();
    if (!holds.at(point)[0]) continue;
    const auto expected = before.at(point), got = after.at(point);
    if (expected == got) continue;
    std::string text = to_string(e) + "\n  became " + to_string(simple) + "\n  given " +
                       to_string(assumption) + " at";
    for (std::size_t v = 0; v < point.size(); ++v) {
      text += " " + random.variables()[v].name + "=" + std::to_string(point[v]);
    }
    RC_FAIL(text);
  }
}

int size_of(std::uint64_t seed) { return 1 + static_cast<int>(seed % 5); }

void check_index_arithmetic(std::uint64_t seed) {
  RandomIr random(seed);
  random.make_variables();
  const Expr assumption = random.rng().chance(0.5) ? bool_imm(true) : random.condition(2);
  const Ranges ranges = random.ranges().assume(assumption);
  const Expr e = random.index(size_of(seed));
  expect_same_values(random, e, simplify(e, ranges), assumption);
  const Interval bounds = bounds_of(e, ranges);
  Evaluation value(random.variables(), e), holds(random.variables(), assumption);
  for (int i = 0; i < 20; ++i) {
    const auto point = random.point();
    if (!holds.at(point)[0]) continue;
    if (!bounds.contains(value.at(point)[0])) {
      RC_FAIL(to_string(e) + " is outside of its bounds, given " + to_string(assumption));
    }
  }
}

void check_conditions(std::uint64_t seed) {
  RandomIr random(seed);
  random.make_variables();
  const Expr assumption = random.rng().chance(0.3) ? bool_imm(true) : random.condition(3);
  const Expr e = random.condition(size_of(seed));
  expect_same_values(random, e, simplify(e, random.ranges().assume(assumption)), assumption);
}

void check_vectors(std::uint64_t seed) {
  RandomIr random(seed);
  random.make_variables();
  const int lanes = seed & 64 ? 4 : 8;
  const Expr e = seed & 128 ? random.vector_index(size_of(seed), lanes)
                            : random.vector_condition(size_of(seed), lanes);
  expect_same_values(random, e, simplify(e, random.ranges()), bool_imm(true));
}

void check_repeated(std::uint64_t seed) {
  RandomIr random(seed);
  random.make_variables();
  const Expr once = simplify(random.index(size_of(seed)), random.ranges());
  const Expr twice = simplify(simplify(once, random.ranges()), random.ranges());
  expect_same_values(random, once, twice, bool_imm(true));
}

void check_kernels(std::uint64_t seed) {
  RandomIr random(seed);
  Kernel kernel = random.kernel(size_of(seed));
  std::vector<Array> before{Array(kF32, {16}), Array(kF32, {16})};
  for (int i = 0; i < 16; ++i) before[0].set_real(i, 0.37 * i), before[1].set_real(i, -i);
  std::vector<Array> after = before;
  const Status first = interpret(kernel, before);
  RC_ASSERT(first.ok());
  const Stmt original = kernel.body;
  kernel.body = simplify(original);
  const Status second = interpret(kernel, after);
  if (!second.ok() || before[1].data != after[1].data) {
    RC_FAIL(to_string(original) + "became\n" + to_string(kernel.body));
  }
}

// A case runs many seeds: rapidcheck counts cases in hundreds.
template <typename Check>
void for_many(std::uint64_t seed, Check check) {
  for (std::uint64_t i = 0; i < 50; ++i) check(hash_combine(seed, i));
}

RC_GTEST_PROP(SimplifyProperty, KeepsIndexArithmetic, (std::uint64_t seed)) {
  for_many(seed, check_index_arithmetic);
}
RC_GTEST_PROP(SimplifyProperty, KeepsConditions, (std::uint64_t seed)) {
  for_many(seed, check_conditions);
}
RC_GTEST_PROP(SimplifyProperty, KeepsVectors, (std::uint64_t seed)) {
  for_many(seed, check_vectors);
}
RC_GTEST_PROP(SimplifyProperty, IsStable, (std::uint64_t seed)) { for_many(seed, check_repeated); }
RC_GTEST_PROP(SimplifyProperty, KeepsKernels, (std::uint64_t seed)) {
  for_many(seed, check_kernels);
}

}  // namespace
}  // namespace attune::test
