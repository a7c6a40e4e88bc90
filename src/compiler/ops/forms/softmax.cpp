#include "compiler/ops/forms/softmax.h"

#include "compiler/ops/element_types.h"
#include "compiler/ops/limits.h"

namespace attune::ops {

double flops(const SoftmaxOptions& options) {
  return 5.0 * static_cast<double>(options.m) * static_cast<double>(options.n);
}

Result<ir::Program> build_softmax(const SoftmaxOptions& options) {
  const NamedSize sizes[] = {{"m", options.m}, {"n", options.n}};
  ATTUNE_RETURN_IF_ERROR(check_sizes(sizes));
  ATTUNE_RETURN_IF_ERROR(check_dtype("softmax", options.dtype, kFloatTypes));
  const ir::Axis rows{"i", options.m};
  const ir::Axis columns{"j", options.n};
  const ir::Expr i = ir::axis_var(rows);
  const ir::Expr j = ir::axis_var(columns);

  ir::Program program{"softmax", {}, {}, {}};
  const ir::Buffer data = ir::add_input(program, "data", options.dtype, {options.m, options.n});
  const ir::Expr x = ir::cast(ir::kF32, ir::load(data, {i, j}));
  const ir::Buffer greatest =
      ir::add_reduce(program, "max", {rows}, {columns}, ir::Reduction::Max, x);
  const ir::Buffer power = ir::add_compute(
      program, "exp", {rows, columns}, ir::math(ir::MathFn::Exp, {x - ir::load(greatest, {i})}));
  const ir::Buffer sum = ir::add_reduce(program, "sum", {rows}, {columns}, ir::Reduction::Sum,
                                        ir::load(power, {i, j}));
  // One division per row: the reciprocal does not depend on j.
  const ir::Expr scale = ir::float_imm(1) / ir::load(sum, {i});
  program.outputs = {ir::add_compute(program, "output", {rows, columns},
                                     ir::cast(options.dtype, ir::load(power, {i, j}) * scale))};
  return check_memory(std::move(program));
}

namespace {

SpecGraph graph_of(const Arguments& arguments) {
  return {{{"softmax",
            {{"data", {arguments.number("m"), arguments.number("n")}}},
            {{"axis", std::int64_t{1}}}}}};
}

}  // namespace

Family softmax_family() {
  return {"softmax",
          {{"m"}, {"n"}},
          [](const Arguments& arguments) -> Result<Operator> {
            const SoftmaxOptions options{
                .m = arguments.number("m"), .n = arguments.number("n"), .dtype = arguments.dtype};
            ATTUNE_ASSIGN(ir::Program program, build_softmax(options));
            return Operator{.program = std::move(program),
                            .flops = flops(options),
                            .tolerance = tolerance_of(options.dtype)};
          },
          graph_of};
}

}  // namespace attune::ops
