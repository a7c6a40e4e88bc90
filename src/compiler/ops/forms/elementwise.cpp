#include "compiler/ops/forms/elementwise.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/check.h"
#include "compiler/ops/element_types.h"
#include "compiler/ops/limits.h"

namespace attune::ops {
namespace {

using ir::Expr;

Attributes slope() { return {{"alpha", 0.01}}; }
Attributes exact() { return {{"approximate", "none"}}; }
Attributes sixth() { return {{"alpha", 1.0 / 6}, {"beta", 0.5}}; }
std::vector<Expr> zero_to_six() { return {ir::float_imm(0), ir::float_imm(6)}; }

constexpr ElementwiseOp kOps[] = {
    {"relu", OperandKind::None, true},
    {"relu6", OperandKind::None, false, "clip", nullptr, zero_to_six},
    {"leaky_relu", OperandKind::None, false, {}, slope},
    {"sigmoid"},
    {"tanh"},
    {"gelu", OperandKind::None, false, {}, exact},
    {"silu"},
    {"hard_sigmoid", OperandKind::None, false, {}, sixth},
    {"hard_swish"},
    {"exp"},
    {"log"},
    {"sqrt"},
    {"erf"},
    {"abs", OperandKind::None, true},
    {"neg", OperandKind::None, true},
    {"add", OperandKind::Tensor, true},
    {"sub", OperandKind::Tensor, true},
    {"mul", OperandKind::Tensor, true},
    {"div", OperandKind::Tensor},
    {"max", OperandKind::Tensor, true},
    {"min", OperandKind::Tensor, true},
    {"bias", OperandKind::Column, true, "add"},
    {"scale", OperandKind::Column, true, "mul"},
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

Expr value_of(const ElementwiseOp& op, const Expr& x, const Expr& y) {
  const OpDef* def = find_operator(op.op.empty() ? op.name : op.op);
  CHECK(def != nullptr && def->scalar != nullptr,
        fmt::format("'{}' stands for no elementwise operator", op.name));
  std::vector<Expr> values{x};
  if (y) values.push_back(y);
  if (op.operands != nullptr) {
    for (const Expr& operand : op.operands()) values.push_back(operand);
  }
  OpCall call{def->name, op.attributes != nullptr ? op.attributes() : Attributes{}, {}, {}, {}};
  for (const Expr& value : values) {
    call.inputs.push_back({value.type(), {}, {}});
    call.present.push_back(true);
  }
  call.constants.resize(values.size());
  return def->scalar(call, values);
}

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
    const Expr value = value_of(op, x, y);
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
