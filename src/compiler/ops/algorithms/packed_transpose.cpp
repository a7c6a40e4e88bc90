#include "compiler/ops/algorithms/packed_transpose.h"

#include "compiler/ops/algorithms/phases.h"
#include "compiler/ops/algorithms/winograd_stages.h"
#include "compiler/ops/limits.h"

namespace attune::ops {
namespace {

constexpr std::int64_t kMostPoints = 7;  // inputs of a tile, in one dimension

// How phases share blocks: `lanes` for each of the `together` phases of a block.
struct Packing {
  std::int64_t together, lanes, blocks;
};

Packing packing_of(const Conv2dTransposeOptions& options) {
  const std::int64_t phases = options.h.stride * options.w.stride;
  std::int64_t together = std::min(phases, options.block / std::max<std::int64_t>(1, options.oc));
  while (together > 1 && (phases % together != 0 || options.block % together != 0)) --together;
  together = std::max<std::int64_t>(1, together);
  return {together, options.block / together, phases / together};
}

// Taps of a window that covers those of all phases.
std::int64_t window_of(const Phases& phases) { return phases.taps + phases.largest_offset(); }

// The stage `filter`, [oc, ic, kh, kw]: channel phase * lanes + c is channel c of that phase.
ir::Buffer add_packed_filter(ir::Program& program, const Conv2dTransposeOptions& options,
                             const Packing& packing, const ir::Buffer& weight) {
  const PhasePair phases = phases_of(options);
  const ChannelCut cut = cut_channels(options.channels());
  const std::vector<ir::Axis> axes{{"oc", packing.blocks * options.block},
                                   {"ic", cut.blocks * cut.lanes},
                                   {"kh", window_of(phases.h)},
                                   {"kw", window_of(phases.w)}};
  const ir::Expr phase = ir::var("oc") / ir::Expr(packing.lanes);
  const ir::Expr c = ir::var("oc") % ir::Expr(packing.lanes);
  const ir::Expr ph = phase / ir::Expr(phases.w.count), pw = phase % ir::Expr(phases.w.count);
  const ir::Expr u = ir::var("kh") - phases.h.offset(ph), v = ir::var("kw") - phases.w.offset(pw);
  const ir::Expr row = phases.h.kernel_tap(ph, u), column = phases.w.kernel_tap(pw, v);
  ir::Expr inside = u >= ir::Expr(0) && u < ir::Expr(phases.h.taps) &&
                    row < ir::Expr(options.h.kernel) && v >= ir::Expr(0) &&
                    v < ir::Expr(phases.w.taps) && column < ir::Expr(options.w.kernel) &&
                    c < ir::Expr(options.oc);
  if (axes[1].extent != options.ic) inside = inside && ir::var("ic") < ir::Expr(options.ic);
  const ir::Expr value = weight_at(options, weight, {c, ir::var("ic"), row, column});
  return ir::add_compute(program, "filter", axes,
                         ir::select(inside, value, ir::zero_of(options.dtype)));
}

}  // namespace

bool packed_transpose_applies(const Conv2dTransposeOptions& options, int m) {
  if (!has_phases(options) || options.groups != 1 || !options.dtype.is_float()) return false;
  const PhasePair phases = phases_of(options);
  const std::int64_t window = window_of(phases.h);
  return packing_of(options).together > 1 && window == window_of(phases.w) && window > 1 &&
         window + m - 1 <= kMostPoints && phases.h.places >= m && phases.w.places >= m;
}

Result<ir::Program> build_packed_transpose(const Conv2dTransposeOptions& options, int m) {
  // What does not fit into memory directly is refused in the direct form's words.
  ATTUNE_ASSIGN(const ir::Program direct, build_conv2d_transpose(options));
  CHECK(packed_transpose_applies(options, m), "a convolution whose phases can be packed");
  const PhasePair phases = phases_of(options);
  const Packing packing = packing_of(options);
  const WinogradTiles tiles{.m = m,
                            .taps = static_cast<int>(window_of(phases.h)),
                            .n = options.n,
                            .rows = ceil_div(phases.h.places, m),
                            .columns = ceil_div(phases.w.places, m),
                            .in = cut_channels(options.channels()),
                            .oc_blocks = packing.blocks,
                            .block = options.block};
  ir::Program program{direct.name, {}, {}, {}};
  const TransposeInputs inputs = add_transpose_inputs(program, options);
  const ir::Buffer filter = add_packed_filter(program, options, packing, inputs.weight);
  const Border whole_tiles{.bottom = tiles.rows * m - phases.h.places,
                           .right = tiles.columns * m - phases.w.places};
  const ir::Buffer input = add_phase_border(program, options, inputs.data, whole_tiles);
  const ir::Buffer rows = add_winograd_stages(program, tiles, filter, input);
  const ir::Expr size = m;
  const WinogradPlace place{.tile_row = ir::var("oh") / size,
                            .row = ir::var("oh") % size,
                            .tile_column = ir::var("ow") / size,
                            .column = ir::var("ow") % size};
  const ir::Buffer packed = ir::add_compute(program, "output.wino",
                                            {{"n", options.n},
                                             {"oc", packing.blocks},
                                             {"oh", phases.h.places},
                                             {"ow", phases.w.places},
                                             {"ob", options.block}},
                                            winograd_output(tiles, rows, place));
  const ir::Expr height = phases.h.count, width = phases.w.count, together = packing.together;
  const ir::Expr phase = ir::var("oh") % height * width + ir::var("ow") % width;
  const ir::Expr lane = phase % together * ir::Expr(packing.lanes) + ir::var("ob");
  const ir::Expr value = ir::load(packed, {ir::var("n"), phase / together, ir::var("oh") / height,
                                           ir::var("ow") / width, lane});
  const ir::Expr chosen =
      ir::select(ir::var("ob") < ir::Expr(packing.lanes), value, ir::zero_of(value.type()));
  program.outputs = {ir::add_compute(program, "output", transpose_output_axes(options),
                                     ir::cast(options.dtype, chosen))};
  return check_memory(std::move(program));
}

}  // namespace attune::ops
