#include "compiler/ops/forms/layernorm.h"

#include <fmt/format.h>

#include "compiler/ops/element_types.h"
#include "compiler/ops/limits.h"

namespace attune::ops {

double flops(const LayernormOptions& options) {
  return 8.0 * static_cast<double>(options.m) * static_cast<double>(options.n);
}

Result<ir::Program> build_layernorm(const LayernormOptions& options) {
  const NamedSize sizes[] = {{"m", options.m}, {"n", options.n}};
  ATTUNE_RETURN_IF_ERROR(check_sizes(sizes));
  ATTUNE_RETURN_IF_ERROR(check_dtype("layernorm", options.dtype, kFloatTypes));
  if (!(options.epsilon > 0)) {
    return invalid(fmt::format("epsilon is {}, must be positive", options.epsilon));
  }
  const ir::Axis rows{"i", options.m};
  const ir::Axis columns{"j", options.n};
  const ir::Expr i = ir::axis_var(rows);
  const ir::Expr j = ir::axis_var(columns);
  const ir::Expr share = ir::float_imm(1.0 / static_cast<double>(options.n));

  ir::Program program{"layernorm", {}, {}, {}};
  const ir::Buffer data = ir::add_input(program, "data", options.dtype, {options.m, options.n});
  const ir::Buffer gamma = ir::add_input(program, "gamma", options.dtype, {options.n}, true);
  const ir::Buffer beta = ir::add_input(program, "beta", options.dtype, {options.n}, true);
  const ir::Expr x = ir::cast(ir::kF32, ir::load(data, {i, j}));
  const ir::Buffer mean =
      ir::add_reduce(program, "mean", {rows}, {columns}, ir::Reduction::Sum, x * share);
  const ir::Expr distance = x - ir::load(mean, {i});
  const ir::Buffer variance = ir::add_reduce(program, "var", {rows}, {columns}, ir::Reduction::Sum,
                                             distance * distance * share);
  const ir::Expr scale =
      ir::math(ir::MathFn::Rsqrt, {ir::load(variance, {i}) + ir::float_imm(options.epsilon)});
  const ir::Expr value = distance * scale * ir::cast(ir::kF32, ir::load(gamma, {j})) +
                         ir::cast(ir::kF32, ir::load(beta, {j}));
  program.outputs = {
      ir::add_compute(program, "output", {rows, columns}, ir::cast(options.dtype, value))};
  return check_memory(std::move(program));
}

namespace {

SpecGraph graph_of(const Arguments& arguments) {
  const std::int64_t m = arguments.number("m"), n = arguments.number("n");
  return {{{"layer_norm",
            {{"data", {m, n}},
             {.name = "gamma", .shape = {n}, .constant = true},
             {.name = "beta", .shape = {n}, .constant = true}},
            {{"axis", std::int64_t{1}}, {"epsilon", LayernormOptions{}.epsilon}}}}};
}

}  // namespace

Family layernorm_family() {
  return {"layernorm",
          {{"m"}, {"n"}},
          [](const Arguments& arguments) -> Result<Operator> {
            const LayernormOptions options{
                .m = arguments.number("m"), .n = arguments.number("n"), .dtype = arguments.dtype};
            ATTUNE_ASSIGN(ir::Program program, build_layernorm(options));
            return Operator{.program = std::move(program),
                            .flops = flops(options),
                            .tolerance = tolerance_of(options.dtype)};
          },
          graph_of};
}

}  // namespace attune::ops
