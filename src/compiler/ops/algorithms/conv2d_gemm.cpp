#include "compiler/ops/algorithms/conv2d_gemm.h"

#include "compiler/ops/element_types.h"
#include "compiler/ops/limits.h"

namespace attune::ops {
namespace {

// The kernel position and block of channels that r = (ic * kh + row) * kw + column stands for.
struct Position {
  ir::Expr ic, row, column;
};

Position position_of(const Conv2dOptions& options) {
  const ir::Expr r = ir::var("r");
  const ir::Expr kh = options.h.kernel;
  const ir::Expr kw = options.w.kernel;
  if (options.h.kernel == 1 && options.w.kernel == 1) return {r, 0, 0};
  return {r / ir::Expr(options.h.kernel * options.w.kernel), r / kw % kh, r % kw};
}

// Appends ib where channels are blocked.
template <typename Item>
std::vector<Item> with_lane(const Conv2dOptions& options, std::vector<Item> items, Item lane) {
  if (!options.reads_nchw()) items.push_back(std::move(lane));
  return items;
}

}  // namespace

Result<ir::Program> build_conv2d_gemm(const Conv2dOptions& options) {
  // What does not fit into memory directly is refused in the direct form's words.
  ATTUNE_ASSIGN(const ir::Program direct, build_conv2d(options));
  ir::Program program{direct.name, {}, {}, {}};
  const Conv2dInputs inputs = add_conv2d_inputs(program, options);
  const ir::Buffer filter = add_conv2d_filter(program, options, inputs.weight);
  const ir::Buffer input = add_conv2d_pad(program, options, inputs.data);

  const ChannelCut cut = options.cut();
  const std::vector<ir::Axis> out_axes = conv2d_output_axes(options);
  const std::int64_t width = options.w.positions();
  const ir::Axis p{"p", options.h.positions() * width};
  const ir::Axis r{"r", cut.blocks * options.h.kernel * options.w.kernel};
  const ir::Axis ib{"ib", cut.lanes};
  const Position at = position_of(options);

  const ir::Expr in_channel =
      options.reads_nchw() ? at.ic : at.ic * ir::Expr(cut.lanes) + ir::var("ib");
  const std::vector<ir::Axis> filter_axes = with_lane(options, {{"oc", filter->shape[0]}, r}, ib);
  const ir::Buffer weights =
      ir::add_compute(program, "filter.gemm", filter_axes,
                      ir::load(filter, {ir::var("oc"), in_channel, at.row, at.column}));

  const ir::Expr row =
      scaled(ir::var("p") / ir::Expr(width), options.h.stride) + scaled(at.row, options.h.dilation);
  const ir::Expr column = scaled(ir::var("p") % ir::Expr(width), options.w.stride) +
                          scaled(at.column, options.w.dilation);
  const ir::Buffer columns = ir::add_compute(
      program, "columns", with_lane(options, {{"n", options.n}, r, p}, ib),
      ir::load(input, with_lane(options, {ir::var("n"), at.ic, row, column}, ir::var("ib"))));

  const ir::Expr out = ir::var("oc") * ir::Expr(options.block) + ir::var("ob");
  const ir::Expr value = product(
      ir::load(columns,
               with_lane(options, {ir::var("n"), ir::var("r"), ir::var("p")}, ir::var("ib"))),
      ir::load(weights, with_lane(options, {out, ir::var("r")}, ir::var("ib"))));
  const ir::Buffer anchor =
      ir::add_reduce(program, "anchor", {out_axes[0], out_axes[1], p, out_axes[4]},
                     with_lane(options, {r}, ib), ir::Reduction::Sum, value);
  const ir::Expr pixel = ir::var("oh") * ir::Expr(width) + ir::var("ow");
  const ir::Expr result = ir::load(anchor, {ir::var("n"), ir::var("oc"), pixel, ir::var("ob")});
  program.outputs = {
      ir::add_compute(program, "output", out_axes, ir::cast(result_of(options.dtype), result))};
  return check_memory(std::move(program));
}

Conv2dAlgorithm conv2d_gemm_algorithm() {
  return {"gemm", "one group", [](const Conv2dOptions& options) { return options.groups == 1; },
          [](const Conv2dOptions& options) -> Result<AlgorithmDef> {
            ATTUNE_ASSIGN(ir::Program program, build_conv2d_gemm(options));
            return AlgorithmDef{"gemm", std::move(program), tolerance_of(options.dtype)};
          }};
}

}  // namespace attune::ops
