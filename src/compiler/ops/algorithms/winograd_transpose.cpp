#include "compiler/ops/algorithms/winograd_transpose.h"

#include "compiler/ops/algorithms/phases.h"
#include "compiler/ops/algorithms/winograd_stages.h"
#include "compiler/ops/limits.h"

namespace attune::ops {
namespace {

constexpr std::int64_t kMostPoints = 7;  // inputs of a tile, in one dimension

// Outputs of a tile of `m` places.
std::int64_t outputs(const Phases& phases, std::int64_t m) { return m * phases.count; }

}  // namespace

bool winograd_transpose_applies(const Conv2dTransposeOptions& options, int m) {
  if (!has_phases(options) || options.groups != 1 || !options.dtype.is_float()) return false;
  const PhasePair phases = phases_of(options);
  return phases.h.taps == phases.w.taps && phases.h.taps > 1 &&
         phases.h.taps + m - 1 <= kMostPoints && phases.h.places >= m && phases.w.places >= m;
}

Result<ir::Program> build_winograd_transpose(const Conv2dTransposeOptions& options, int m) {
  // What does not fit into memory directly is refused in the direct form's words.
  ATTUNE_ASSIGN(const ir::Program direct, build_conv2d_transpose(options));
  CHECK(winograd_transpose_applies(options, m), "a convolution that winograd applies to");
  const PhasePair phases = phases_of(options);
  const WinogradTiles tiles{
      .m = m,
      .taps = static_cast<int>(phases.h.taps),
      .n = options.n,
      .rows = ceil_div(phases.h.places, m),
      .columns = ceil_div(phases.w.places, m),
      .in = cut_channels(options.channels()),
      .oc_blocks = options.channels().oc_blocks(),
      .block = options.block,
      .phases = {{"ph", phases.h.count}, {"pw", phases.w.count}},
      .row_offset = phases.h.lead == 0 ? ir::Expr() : phases.h.offset(ir::var("ph")),
      .column_offset = phases.w.lead == 0 ? ir::Expr() : phases.w.offset(ir::var("pw"))};
  ir::Program program{direct.name, {}, {}, {}};
  const TransposeInputs inputs = add_transpose_inputs(program, options);
  const ir::Buffer filter = add_phase_filter(program, options, inputs.weight);
  const Border whole_tiles{.bottom = tiles.rows * m - phases.h.places,
                           .right = tiles.columns * m - phases.w.places};
  const ir::Buffer input = add_phase_border(program, options, inputs.data, whole_tiles);
  const ir::Buffer rows = add_winograd_stages(program, tiles, filter, input);
  const ir::Expr oh = ir::var("oh"), ow = ir::var("ow");
  const ir::Expr height = outputs(phases.h, m), width = outputs(phases.w, m);
  const WinogradPlace place{
      .tile_row = oh / height,
      .row = oh % height / ir::Expr(phases.h.count),
      .tile_column = ow / width,
      .column = ow % width / ir::Expr(phases.w.count),
      .phase = {oh % ir::Expr(phases.h.count), ow % ir::Expr(phases.w.count)}};
  const std::vector<ir::Axis> axes = transpose_output_axes(options);
  const ir::Buffer result =
      ir::add_compute(program, "output.wino", axes, winograd_output(tiles, rows, place));
  add_output(program, result, axes, options.dtype);
  return check_memory(std::move(program));
}

}  // namespace attune::ops
