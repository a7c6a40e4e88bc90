#include "compiler/ops/algorithms/transpose_gemm.h"

#include "compiler/ops/algorithms/phases.h"
#include "compiler/ops/element_types.h"
#include "compiler/ops/limits.h"

namespace attune::ops {
namespace {

bool applies(const Conv2dTransposeOptions& options) {
  return options.groups == 1 && options.h.dilation == 1 && options.w.dilation == 1;
}

// The block of channels and the tap that r = (ic * taps + row) * taps + column stands for.
struct Position {
  ir::Expr ic, row, column;
};

Position position_of(const PhasePair& phases) {
  const ir::Expr r = ir::var("r"), rows = phases.h.taps, columns = phases.w.taps;
  if (phases.h.taps == 1 && phases.w.taps == 1) return {r, 0, 0};
  return {r / ir::Expr(phases.h.taps * phases.w.taps), r / columns % rows, r % columns};
}

ir::Buffer add_weights(ir::Program& program, const Conv2dTransposeOptions& options,
                       const ir::Buffer& weight, const ir::Axis& r, const ir::Axis& ib) {
  const PhasePair phases = phases_of(options);
  const Position at = position_of(phases);
  const ir::Buffer filter = add_phase_filter(program, options, weight);
  return ir::add_compute(
      program, "filter.gemm",
      {{"ph", phases.h.count}, {"pw", phases.w.count}, {"oc", filter->shape[0]}, r, ib},
      ir::load(filter, {ir::var("oc"), at.ic * ir::Expr(ib.extent) + ir::var("ib"), ir::var("ph"),
                        ir::var("pw"), at.row, at.column}));
}

ir::Buffer add_columns(ir::Program& program, const Conv2dTransposeOptions& options,
                       const ir::Buffer& data, const std::vector<ir::Axis>& axes) {
  const PhasePair phases = phases_of(options);
  const Position at = position_of(phases);
  const ir::Buffer input = add_phase_border(program, options, data);
  const ir::Expr width = phases.w.places;
  const ir::Expr row = ir::var("p") / width + phases.h.offset(ir::var("ph")) + at.row;
  const ir::Expr column = ir::var("p") % width + phases.w.offset(ir::var("pw")) + at.column;
  return ir::add_compute(program, "columns", axes,
                         ir::load(input, {ir::var("n"), at.ic, row, column, ir::var("ib")}));
}

}  // namespace

Result<ir::Program> build_transpose_gemm(const Conv2dTransposeOptions& options) {
  // What does not fit into memory directly is refused in the direct form's words.
  ATTUNE_ASSIGN(const ir::Program direct, build_conv2d_transpose(options));
  CHECK(applies(options), "a convolution of one group without dilation");
  const PhasePair phases = phases_of(options);
  const ChannelCut cut = cut_channels(options.channels());
  const std::vector<ir::Axis> out_axes = transpose_output_axes(options);
  const ir::Axis ph{"ph", phases.h.count}, pw{"pw", phases.w.count};
  const ir::Axis p{"p", phases.h.places * phases.w.places};
  const ir::Axis r{"r", cut.blocks * phases.h.taps * phases.w.taps}, ib{"ib", cut.lanes};

  ir::Program program{direct.name, {}, {}, {}};
  const TransposeInputs inputs = add_transpose_inputs(program, options);
  const ir::Buffer weights = add_weights(program, options, inputs.weight, r, ib);
  const std::vector<ir::Axis> left{out_axes[0], ph, pw, r, p, ib};
  const ir::Buffer columns = add_columns(program, options, inputs.data, left);
  const ir::Expr out = ir::var("oc") * ir::Expr(options.block) + ir::var("ob");
  const ir::Expr value =
      product(ir::load(columns, index_of(left)),
              ir::load(weights, {ir::var("ph"), ir::var("pw"), out, ir::var("r"), ir::var("ib")}));
  const ir::Buffer anchor =
      ir::add_reduce(program, "anchor", {out_axes[0], out_axes[1], ph, pw, p, out_axes[4]}, {r, ib},
                     ir::Reduction::Sum, value);
  const ir::Expr oh = ir::var("oh"), ow = ir::var("ow");
  const ir::Expr height = phases.h.count, width = phases.w.count;
  const ir::Expr place = oh / height * ir::Expr(phases.w.places) + ow / width;
  const ir::Expr result = ir::load(
      anchor, {ir::var("n"), ir::var("oc"), oh % height, ow % width, place, ir::var("ob")});
  program.outputs = {
      ir::add_compute(program, "output", out_axes, ir::cast(result_of(options.dtype), result))};
  return check_memory(std::move(program));
}

Conv2dTransposeAlgorithm transpose_gemm_algorithm() {
  return {"gemm", "one group and no dilation", applies,
          [](const Conv2dTransposeOptions& options) -> Result<AlgorithmDef> {
            ATTUNE_ASSIGN(ir::Program program, build_transpose_gemm(options));
            return AlgorithmDef{"gemm", std::move(program), tolerance_of(options.dtype)};
          }};
}

}  // namespace attune::ops
