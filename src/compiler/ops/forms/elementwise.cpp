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
std::vector<double> zero_to_six() { return {0, 6}; }

// Names that say more than the operator does, or less.
constexpr ElementwiseOp kNamed[] = {
    {"relu6", OperandKind::None, false, "clip", nullptr, zero_to_six},
    {"leaky_relu", OperandKind::None, false, {}, slope},
    {"gelu", OperandKind::None, false, {}, exact},
    {"hard_sigmoid", OperandKind::None, false, {}, sixth},
    {"div", OperandKind::Tensor},  // an integer by zero would end the program
    {"bias", OperandKind::Column, true, "add"},
    {"scale", OperandKind::Column, true, "mul"},
};

// Those that stand for themselves, and the names above.
std::vector<ElementwiseOp> list_ops() {
  std::vector<ElementwiseOp> all;
  for (const OpDef& def : operators()) {
    if (def.traits.operands == 0) continue;
    const OpCall integers{
        .name = def.name,
        .attributes = {},
        .inputs = std::vector<TensorType>(def.traits.operands, {ir::kI32, {}, {}}),
        .present = std::vector<bool>(def.traits.operands, true),
        .constants = std::vector<ConstantPtr>(def.traits.operands)};
    all.push_back({def.name, def.traits.operands == 2 ? OperandKind::Tensor : OperandKind::None,
                   def.infer(integers).ok()});
  }
  all.insert(all.end(), std::begin(kNamed), std::end(kNamed));
  return all;
}

Result<ElementwiseOp> find_op(std::string_view name) {
  std::vector<std::string_view> names;
  for (const ElementwiseOp& op : elementwise_ops()) {
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

std::span<const ElementwiseOp> elementwise_ops() {
  static const std::vector<ElementwiseOp> all = list_ops();
  return all;
}

Expr value_of(const ElementwiseOp& op, const Expr& x, const Expr& y) {
  const OpDef* def = find_operator(op.meaning());
  CHECK(def != nullptr && def->scalar != nullptr,
        fmt::format("'{}' stands for no elementwise operator", op.name));
  std::vector<Expr> values{x};
  if (y) values.push_back(y);
  if (op.numbers != nullptr) {
    for (const double number : op.numbers()) values.push_back(ir::float_imm(number));
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

namespace {

SpecGraph graph_of(const Arguments& arguments) {
  const std::int64_t rows = arguments.number("m"), columns = arguments.number("n");
  const std::vector<ElementwiseOp> chain = parse_chain(arguments.word("op")).value();
  std::vector<SpecNode> nodes;
  int operands = 0;
  for (const ElementwiseOp& op : chain) {
    SpecNode node{std::string(op.meaning())};
    if (nodes.empty()) node.operands.push_back({"data", {rows, columns}});
    if (op.operand != OperandKind::None) {
      const bool column = op.operand == OperandKind::Column;
      std::vector<std::int64_t> shape{rows, columns};
      if (column) shape = {columns};
      node.operands.push_back({fmt::format("operand{}", operands++), shape, column});
    }
    if (op.attributes != nullptr) node.attributes = op.attributes();
    if (op.numbers != nullptr) node.numbers = op.numbers();
    nodes.push_back(std::move(node));
  }
  return {std::move(nodes)};
}

}  // namespace

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
          },
          graph_of};
}

}  // namespace attune::ops
