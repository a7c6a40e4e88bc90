#include "compiler/ops/forms/reduce.h"

#include "base/check.h"
#include "compiler/ops/element_types.h"
#include "compiler/ops/limits.h"

namespace attune::ops {
namespace {

struct OpInfo {
  ReduceOp op;
  const char* name;
  ir::Reduction reduction;
};
constexpr OpInfo kOps[] = {
    {ReduceOp::Sum, "sum", ir::Reduction::Sum},
    {ReduceOp::Mean, "mean", ir::Reduction::Sum},
    {ReduceOp::Prod, "prod", ir::Reduction::Prod},
    {ReduceOp::Max, "max", ir::Reduction::Max},
    {ReduceOp::Min, "min", ir::Reduction::Min},
    {ReduceOp::ArgMax, "argmax", ir::Reduction::ArgMax},
    {ReduceOp::ArgMin, "argmin", ir::Reduction::ArgMin},
};

const OpInfo& info_of(ReduceOp op) {
  for (const OpInfo& info : kOps) {
    if (info.op == op) return info;
  }
  CHECK(false, "every reduction is in the table");
}

bool is_exact(ReduceOp op) {
  return op == ReduceOp::Max || op == ReduceOp::Min || op == ReduceOp::ArgMax ||
         op == ReduceOp::ArgMin;
}

}  // namespace

double flops(const ReduceOptions& options) {
  return static_cast<double>(options.m) * static_cast<double>(options.n);
}

Result<ir::Program> build_reduce(const ReduceOptions& options) {
  const OpInfo& info = info_of(options.op);
  const NamedSize sizes[] = {{"m", options.m}, {"n", options.n}};
  ATTUNE_RETURN_IF_ERROR(check_sizes(sizes));
  if (options.op == ReduceOp::Mean) {
    ATTUNE_RETURN_IF_ERROR(check_dtype("mean", options.dtype, kFloatTypes));
  } else {
    ATTUNE_RETURN_IF_ERROR(check_dtype(info.name, options.dtype, kNumberTypes));
  }
  const ir::Axis rows{"i", options.m};
  const ir::Axis columns{"j", options.n};

  ir::Program program{"reduce", {}, {}, {}};
  const ir::Buffer data = ir::add_input(program, "data", options.dtype, {options.m, options.n});
  const ir::Expr x = ir::cast(accumulator_of(options.dtype),
                              ir::load(data, {ir::axis_var(rows), ir::axis_var(columns)}));
  if (info.reduction == ir::Reduction::ArgMax || info.reduction == ir::Reduction::ArgMin) {
    const auto anchor = ir::add_arg_reduce(program, "anchor", {rows}, {columns}, info.reduction, x,
                                           ir::axis_var(columns));
    add_output(program, anchor[1], {rows}, ir::kI64);
    return check_memory(std::move(program));
  }
  const ir::Buffer anchor = ir::add_reduce(program, "anchor", {rows}, {columns}, info.reduction, x);
  if (options.op != ReduceOp::Mean) {
    add_output(program, anchor, {rows}, options.dtype);
    return check_memory(std::move(program));
  }
  const ir::Expr mean =
      ir::load(anchor, {ir::axis_var(rows)}) * ir::float_imm(1.0 / static_cast<double>(options.n));
  program.outputs = {ir::add_compute(program, "output", {rows}, ir::cast(options.dtype, mean))};
  return check_memory(std::move(program));
}

namespace {

SpecGraph graph_of(const Arguments& arguments) {
  const std::string& op = arguments.word("op");
  SpecNode node{"reduce_" + op,
                {{"data", {arguments.number("m"), arguments.number("n")}}},
                {{"keepdims", std::int64_t{0}}}};
  if (op.starts_with("arg")) {
    node.op = "arg_" + op.substr(3);
    node.attributes["axis"] = std::int64_t{1};
    node.attributes["select_last_index"] = std::int64_t{0};
  } else {
    node.attributes["axes"] = std::vector<std::int64_t>{1};
  }
  return {{std::move(node)}};
}

}  // namespace

Family reduce_family() {
  Key op{"op", KeyKind::Word, "sum", {}};
  for (const OpInfo& info : kOps) op.words.push_back(info.name);
  return {"reduce",
          {{"m"}, {"n"}, op},
          [](const Arguments& arguments) -> Result<Operator> {
            ReduceOptions options{.op = ReduceOp::Sum,
                                  .m = arguments.number("m"),
                                  .n = arguments.number("n"),
                                  .dtype = arguments.dtype};
            for (const OpInfo& info : kOps) {
              if (arguments.word("op") == info.name) options.op = info.op;
            }
            ATTUNE_ASSIGN(ir::Program program, build_reduce(options));
            return Operator{.program = std::move(program),
                            .flops = flops(options),
                            .tolerance = is_exact(options.op) ? 0 : tolerance_of(options.dtype)};
          },
          graph_of};
}

}  // namespace attune::ops
