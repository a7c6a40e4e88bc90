#include "compiler/ops/evaluate_for_test.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"
#include "base/match.h"
#include "compiler/ops/blocked_layout.h"

namespace attune::ops {
namespace {

struct Scope {
  std::map<const ir::BufferNode*, Values> buffers;
  std::map<std::string, std::int64_t> axes;
};

double round_to(ir::DType type, double v) {
  if (type == ir::kF32) return static_cast<float>(v);
  return type.is_float() ? v : std::trunc(v);
}

double apply(ir::BinOp op, bool real, double a, double b) {
  const auto x = static_cast<std::int64_t>(a);
  const auto y = static_cast<std::int64_t>(b);
  switch (op) {
    case ir::BinOp::Add:
      return a + b;
    case ir::BinOp::Sub:
      return a - b;
    case ir::BinOp::Mul:
      return a * b;
    case ir::BinOp::Div:
      return real ? a / b : static_cast<double>(ir::floor_div(x, y));
    case ir::BinOp::Mod:
      return static_cast<double>(ir::floor_mod(x, y));
    case ir::BinOp::Min:
      return std::min(a, b);
    case ir::BinOp::Max:
      return std::max(a, b);
    case ir::BinOp::Eq:
      return a == b;
    case ir::BinOp::Lt:
      return a < b;
    case ir::BinOp::Le:
      return a <= b;
    case ir::BinOp::Gt:
      return a > b;
    case ir::BinOp::Ge:
      return a >= b;
    case ir::BinOp::And:
      return a != 0 && b != 0;
    default:
      CHECK(false, "an operation that operators use");
  }
}

double apply(ir::MathFn fn, double a) {
  switch (fn) {
    case ir::MathFn::Exp:
      return std::exp(a);
    case ir::MathFn::Rsqrt:
      return 1 / std::sqrt(a);
    case ir::MathFn::Sigmoid:
      return 1 / (1 + std::exp(-a));
    case ir::MathFn::Tanh:
      return std::tanh(a);
    case ir::MathFn::Erf:
      return std::erf(a);
    case ir::MathFn::Log:
      return std::log(a);
    case ir::MathFn::Sqrt:
      return std::sqrt(a);
    case ir::MathFn::Abs:
      return std::abs(a);
    case ir::MathFn::Neg:
      return -a;
    default:
      CHECK(false, "a function that operators use");
  }
}

double value_of(const ir::Expr& e, const Scope& scope) {
  const double v = std::visit(
      Match{
          [&](const ir::IntImm& x) { return static_cast<double>(x.value); },
          [&](const ir::FloatImm& x) { return x.value; },
          [&](const ir::Var& x) { return static_cast<double>(scope.axes.at(x.name)); },
          [&](const ir::Binary& x) {
            return apply(x.op, x.lhs.type().is_float(), value_of(x.lhs, scope),
                         value_of(x.rhs, scope));
          },
          [&](const ir::Math& x) { return apply(x.fn, value_of(x.args[0], scope)); },
          [&](const ir::Select& x) {
            return value_of(x.condition, scope) != 0 ? value_of(x.if_true, scope)
                                                     : value_of(x.if_false, scope);
          },
          [&](const ir::Cast& x) { return value_of(x.value, scope); },
          [&](const ir::Load& x) {
            std::size_t at = 0;
            for (std::size_t d = 0; d < x.index.size(); ++d) {
              const double i = value_of(x.index[d], scope);
              CHECK(i >= 0 && i < static_cast<double>(x.buffer->shape[d]),
                    "an index of " + x.buffer->name + " in range");
              at = at * static_cast<std::size_t>(x.buffer->shape[d]) + static_cast<std::size_t>(i);
            }
            return scope.buffers.at(x.buffer.get())[at];
          },
          [&](const auto&) -> double { CHECK(false, "only scalars in tensor expressions"); },
      },
      e->kind);
  return round_to(e.type(), v);
}

// Calls body for all points of the axes, last axis fastest.
template <typename Body>
void for_each_point(const std::vector<ir::Axis>& axes, Scope& scope, const Body& body,
                    std::size_t depth = 0) {
  if (depth == axes.size()) return body();
  for (std::int64_t i = 0; i < axes[depth].extent; ++i) {
    scope.axes[axes[depth].name] = i;
    for_each_point(axes, scope, body, depth + 1);
  }
}

double combined(ir::Reduction reduction, double a, double b) {
  switch (reduction) {
    case ir::Reduction::Sum:
      return a + b;
    case ir::Reduction::Prod:
      return a * b;
    case ir::Reduction::Max:
      return std::max(a, b);
    case ir::Reduction::Min:
      return std::min(a, b);
    default:
      CHECK(false, "a single-valued reduction");
  }
}

void reduce_point(const ir::Stage& stage, Scope& scope, std::vector<double>& result) {
  const bool pair = stage.values.size() == 2;
  result[0] = value_of(ir::identity_of(stage.reduction, stage.values[0].type()), scope);
  for_each_point(stage.reduce_axes, scope, [&] {
    const double v = value_of(stage.values[0], scope);
    if (!pair) {
      result[0] = round_to(stage.values[0].type(), combined(stage.reduction, result[0], v));
    } else if (stage.reduction == ir::Reduction::ArgMax ? v > result[0] : v < result[0]) {
      result = {v, value_of(stage.values[1], scope)};
    }
  });
}

}  // namespace

Values random_values(std::size_t count, Rng& rng) {
  Values values(count);
  for (double& v : values) v = static_cast<double>(rng.between(-32, 32)) / 16;
  return values;
}

Values random_integers(std::size_t count, std::int64_t low, std::int64_t high, Rng& rng) {
  Values values(count);
  for (double& v : values) v = static_cast<double>(rng.between(low, high));
  return values;
}

std::size_t count_of(const std::vector<std::int64_t>& shape) {
  std::size_t count = 1;
  for (std::int64_t extent : shape) count *= static_cast<std::size_t>(extent);
  return count;
}

Values evaluate(const ir::Program& program, const Tensors& inputs) {
  Scope scope;
  for (const ir::Input& input : program.inputs) {
    const auto found = inputs.find(input.buffer->name);
    CHECK(found != inputs.end() && found->second.size() == count_of(input.buffer->shape),
          "values for input " + input.buffer->name);
    scope.buffers[input.buffer.get()] = found->second;
  }
  for (const ir::Stage& stage : program.stages) {
    std::vector<Values> results(stage.outputs.size());
    std::vector<double> point(stage.outputs.size(), 0);
    for_each_point(stage.axes, scope, [&] {
      if (stage.reduction == ir::Reduction::None) {
        point[0] = value_of(stage.values[0], scope);
      } else {
        reduce_point(stage, scope, point);
      }
      for (std::size_t i = 0; i < point.size(); ++i) results[i].push_back(point[i]);
    });
    for (std::size_t i = 0; i < results.size(); ++i) {
      scope.buffers[stage.outputs[i].get()] = std::move(results[i]);
    }
  }
  return scope.buffers.at(program.outputs[0].get());
}

Values pack(const std::vector<std::int64_t>& blocked, std::int64_t channels, const Values& plain) {
  Values packed(count_of(blocked));
  pack_channels(blocked, channels, sizeof(double), std::as_bytes(std::span(plain)),
                std::as_writable_bytes(std::span(packed)));
  return packed;
}

Values unpack(const std::vector<std::int64_t>& blocked, std::int64_t channels,
              const Values& packed) {
  Values plain(count_of(plain_shape(blocked, channels)));
  unpack_channels(blocked, channels, sizeof(double), std::as_bytes(std::span(packed)),
                  std::as_writable_bytes(std::span(plain)));
  return plain;
}

double largest(const Values& values) {
  double result = 0;
  for (double v : values) result = std::max(result, std::abs(v));
  return result;
}

double largest_difference(const Values& a, const Values& b) {
  CHECK(a.size() == b.size(), "tensors of one size");
  double result = 0;
  for (std::size_t i = 0; i < a.size(); ++i) result = std::max(result, std::abs(a[i] - b[i]));
  return result;
}

}  // namespace attune::ops
