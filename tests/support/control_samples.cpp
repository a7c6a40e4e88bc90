#include "tests/support/control_samples.h"

#include <cmath>

#include "compiler/graph/builder.h"

namespace attune::test {
namespace {

using graph::Builder;
using graph::ValueId;
using ops::ConstantPtr;

constexpr std::int64_t kSize = 37;

ops::TensorType row() { return {ir::kF32, {kSize}, {}}; }

double number(std::int64_t i) { return static_cast<double>(i % 11) / 4 - 1; }

ConstantPtr rows(std::int64_t count, double (*value)(std::int64_t position)) {
  ir::Array array(ir::kF32, count < 0 ? std::vector{kSize} : std::vector{count, kSize});
  for (std::int64_t i = 0; i < array.count(); ++i) array.set_real(i, value(i));
  return ops::make_constant(std::move(array));
}

// if (condition) abs(x) else neg(x)
Sample branch(bool condition) {
  Builder yes("yes"), no("no");
  const ValueId then = yes.add("abs", {yes.input("x", row())}).value();
  const ValueId otherwise = no.add("neg", {no.input("x", row())}).value();
  ir::Array chosen(ir::kBool, {});
  chosen.set_int(0, condition ? 1 : 0);
  Sample sample{.text = condition ? "if(true, f32[37])" : "if(false, f32[37])", .op = "if"};
  sample.operands = {ops::make_constant(std::move(chosen)), rows(-1, number)};
  sample.known = {false, false};
  sample.bodies = {
      std::make_shared<const graph::Graph>(std::move(yes).finish({then})),
      std::make_shared<const graph::Graph>(std::move(no).finish({otherwise})),
  };
  sample.expected = {condition ? rows(-1, [](std::int64_t i) { return std::abs(number(i)); })
                               : rows(-1, [](std::int64_t i) { return -number(i); })};
  return sample;
}

// Three times x = x + slice, with all of them stacked, over the rows of a matrix.
Sample loop() {
  constexpr std::int64_t kTrips = 3;
  Builder body("body");
  body.input("iteration", {ir::kI64, {}, {}});
  const ValueId x = body.input("x", row());
  const ValueId sum = body.add("add", {x, body.input("slice", row())}).value();
  Sample sample{.text = "loop(f32[37], f32[3,37])", .op = "loop"};
  sample.attributes = {{"carried", std::int64_t{1}},
                       {"scanned", std::int64_t{1}},
                       {"outputs_scanned", std::int64_t{1}},
                       {"has_trip_count", std::int64_t{0}},
                       {"has_condition", std::int64_t{0}},
                       {"max_trips", kTrips},
                       {"reverse_inputs", std::vector<std::int64_t>{0}},
                       {"reverse_outputs", std::vector<std::int64_t>{0}},
                       {"extent", std::int64_t{-1}}};
  sample.operands = {nullptr, nullptr, rows(-1, number), rows(kTrips, number)};
  sample.known = {false, false, false, false};
  sample.bodies = {std::make_shared<const graph::Graph>(std::move(body).finish({sum, sum}))};
  const auto total = [](std::int64_t trips, std::int64_t i) {
    double result = number(i);
    for (std::int64_t trip = 0; trip < trips; ++trip) result += number(trip * kSize + i);
    return result;
  };
  ir::Array last(ir::kF32, {kSize}), all(ir::kF32, {kTrips, kSize});
  for (std::int64_t i = 0; i < kSize; ++i) {
    last.set_real(i, total(kTrips, i));
    for (std::int64_t trip = 0; trip < kTrips; ++trip) {
      all.set_real(trip * kSize + i, total(trip + 1, i));
    }
  }
  sample.expected = {ops::make_constant(std::move(last)), ops::make_constant(std::move(all))};
  return sample;
}

}  // namespace

std::vector<Sample> control_samples() { return {branch(true), branch(false), loop()}; }

}  // namespace attune::test
