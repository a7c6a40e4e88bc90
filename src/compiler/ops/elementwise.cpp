#include "compiler/ops/elementwise.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "compiler/ops/element_types.h"
#include "compiler/ops/limits.h"

namespace attune::ops {
namespace {

using ir::Expr;
using ir::MathFn;

Expr real(double value) { return ir::float_imm(value); }

template <MathFn fn>
Expr apply(const Expr& x, const Expr& /*y*/) {
  return ir::math(fn, {x});
}

// In this order a NaN stays one.
Expr relu(const Expr& x, const Expr& /*y*/) { return ir::max(ir::zero_of(x.type()), x); }
Expr relu6(const Expr& x, const Expr& y) { return ir::min(relu(x, y), real(6)); }
Expr leaky_relu(const Expr& x, const Expr& /*y*/) {
  return ir::select(x < real(0), x * real(0.01), x);
}
// x / 2 * (1 + erf(x / sqrt 2)).
Expr gelu(const Expr& x, const Expr& /*y*/) {
  return x * real(0.5) * (real(1) + ir::math(MathFn::Erf, {x * real(0.70710678118654752440)}));
}
Expr silu(const Expr& x, const Expr& /*y*/) { return x * ir::math(MathFn::Sigmoid, {x}); }
Expr hard_sigmoid(const Expr& x, const Expr& /*y*/) {
  return ir::max(ir::min(x * real(1.0 / 6) + real(0.5), real(1)), real(0));
}
Expr hard_swish(const Expr& x, const Expr& y) { return x * hard_sigmoid(x, y); }
Expr add(const Expr& x, const Expr& y) { return x + y; }
Expr sub(const Expr& x, const Expr& y) { return x - y; }
Expr mul(const Expr& x, const Expr& y) { return x * y; }
Expr div(const Expr& x, const Expr& y) { return x / y; }
Expr greater(const Expr& x, const Expr& y) { return ir::max(x, y); }
Expr lesser(const Expr& x, const Expr& y) { return ir::min(x, y); }

constexpr ElementwiseOp kOps[] = {
    {"relu", OperandKind::None, true, relu},
    {"relu6", OperandKind::None, false, relu6},
    {"leaky_relu", OperandKind::None, false, leaky_relu},
    {"sigmoid", OperandKind::None, false, apply<MathFn::Sigmoid>},
    {"tanh", OperandKind::None, false, apply<MathFn::Tanh>},
    {"gelu", OperandKind::None, false, gelu},
    {"silu", OperandKind::None, false, silu},
    {"hard_sigmoid", OperandKind::None, false, hard_sigmoid},
    {"hard_swish", OperandKind::None, false, hard_swish},
    {"exp", OperandKind::None, false, apply<MathFn::Exp>},
    {"log", OperandKind::None, false, apply<MathFn::Log>},
    {"sqrt", OperandKind::None, false, apply<MathFn::Sqrt>},
    {"erf", OperandKind::None, false, apply<MathFn::Erf>},
    {"abs", OperandKind::None, true, apply<MathFn::Abs>},
    {"neg", OperandKind::None, true, apply<MathFn::Neg>},
    {"add", OperandKind::Tensor, true, add},
    {"sub", OperandKind::Tensor, true, sub},
    {"mul", OperandKind::Tensor, true, mul},
    {"div", OperandKind::Tensor, false, div},
    {"max", OperandKind::Tensor, true, greater},
    {"min", OperandKind::Tensor, true, lesser},
    {"bias", OperandKind::Column, true, add},
    {"scale", OperandKind::Column, true, mul},
};

Result<ElementwiseOp> find_op(std::string_view name) {
  std::vector<std::string_view> names;
  for (const ElementwiseOp& op : kOps) {
    if (op.name == name) return op;
    names.push_back(op.name);
  }
  return invalid(fmt::format("unknown elementwise operator '{}'", name),
                 fmt::format("chain some of {} with '+'", fmt::join(names, ", ")));
}

Status validate(const ElementwiseOptions& options) {
  const NamedSize sizes[] = {{"m", options.m}, {"n", options.n}};
  ATTUNE_RETURN_IF_ERROR(check_sizes(sizes));
  if (options.chain.empty()) return invalid("the chain of elementwise operators is empty");
  for (const ElementwiseOp& op : options.chain) {
    if (op.integers) {
      ATTUNE_RETURN_IF_ERROR(check_dtype(op.name, options.dtype, kNumberTypes));
    } else {
      ATTUNE_RETURN_IF_ERROR(check_dtype(op.name, options.dtype, kFloatTypes));
    }
  }
  return {};
}

// Adds the next operand of the chain to the program and reads it; empty for a unary operator.
Expr read_operand(ir::Program& program, const ElementwiseOptions& options, OperandKind kind,
                  int number) {
  if (kind == OperandKind::None) return {};
  const bool column = kind == OperandKind::Column;
  std::vector<std::int64_t> shape;
  std::vector<Expr> index;
  if (!column) {
    shape.push_back(options.m);
    index.push_back(ir::var("i"));
  }
  shape.push_back(options.n);
  index.push_back(ir::var("j"));
  const ir::Buffer buffer =
      ir::add_input(program, fmt::format("operand{}", number), options.dtype, shape, column);
  return ir::cast(accumulator_of(options.dtype), ir::load(buffer, index));
}

}  // namespace

std::span<const ElementwiseOp> elementwise_ops() { return kOps; }

Result<std::vector<ElementwiseOp>> parse_chain(std::string_view text) {
  if (text == "bias_relu") text = "bias+relu";
  std::vector<ElementwiseOp> chain;
  while (true) {
    const std::size_t plus = text.find('+');
    ATTUNE_ASSIGN(ElementwiseOp op, find_op(text.substr(0, plus)));
    chain.push_back(op);
    if (plus == std::string_view::npos) return chain;
    text = text.substr(plus + 1);
  }
}

double flops(const ElementwiseOptions& options) {
  return static_cast<double>(options.m) * static_cast<double>(options.n) *
         static_cast<double>(options.chain.size());
}

Result<ir::Program> build_elementwise(const ElementwiseOptions& options) {
  ATTUNE_RETURN_IF_ERROR(validate(options));
  const std::vector<ir::Axis> axes{{"i", options.m}, {"j", options.n}};
  ir::Program program{"elementwise", {}, {}, {}};
  ir::Buffer last = ir::add_input(program, "data", options.dtype, {options.m, options.n});
  int operands = 0;
  for (std::size_t k = 0; k < options.chain.size(); ++k) {
    const ElementwiseOp& op = options.chain[k];
    const bool final = k + 1 == options.chain.size();
    const Expr y = read_operand(program, options, op.operand, operands);
    if (y) ++operands;
    const Expr x = ir::cast(accumulator_of(options.dtype), ir::load(last, index_of(axes)));
    const Expr value = op.value(x, y);
    last = ir::add_compute(program, final ? "output" : fmt::format("epilogue.{}", k), axes,
                           final ? ir::cast(options.dtype, value) : value);
  }
  program.outputs = {last};
  return check_memory(std::move(program));
}

Family elementwise_family() {
  return {"elementwise",
          {{"m"}, {"n"}, {"op", KeyKind::Word}},
          [](const Arguments& arguments) -> Result<Operator> {
            ATTUNE_ASSIGN(std::vector<ElementwiseOp> chain, parse_chain(arguments.word("op")));
            const ElementwiseOptions options{.m = arguments.number("m"),
                                             .n = arguments.number("n"),
                                             .chain = std::move(chain),
                                             .dtype = arguments.dtype};
            ATTUNE_ASSIGN(ir::Program program, build_elementwise(options));
            return Operator{.program = std::move(program),
                            .flops = flops(options),
                            .tolerance = tolerance_of(options.dtype)};
          }};
}

}  // namespace attune::ops
