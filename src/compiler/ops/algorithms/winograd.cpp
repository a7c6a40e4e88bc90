#include "compiler/ops/algorithms/winograd.h"

#include "compiler/ops/algorithms/folded_conv2d.h"
#include "compiler/ops/limits.h"

namespace attune::ops {
namespace {

constexpr std::int64_t kMostPoints = 7;  // inputs of a folded tile, in one dimension

// Folding adds taps where the stride does not divide the kernel; it must pay nevertheless.
bool saves_enough(const Conv2dOptions& options, std::int64_t m) {
  const std::int64_t t = m + folded_taps(options) - 1;
  const std::int64_t points = t * t * options.h.stride * options.w.stride;
  const std::int64_t direct = m * m * options.h.kernel * options.w.kernel;
  return 10 * points <= 6 * direct;
}

bool winograd_folds(const Conv2dOptions& options, int m) {
  return m <= 4 && folds(options) && folded_taps(options) > 1 &&
         (m != 3 || folded_taps(options) == 2) && m + folded_taps(options) - 1 <= kMostPoints &&
         saves_enough(options, m) && options.h.positions() >= m && options.w.positions() >= m;
}

}  // namespace

bool winograd_applies(const Conv2dOptions& options, int m) {
  if (!options.dtype.is_float()) return false;
  if (winograd_folds(options, m)) return true;
  const auto fits = [](const Window& window) {
    return window.kernel == 3 && window.stride == 1 && window.dilation == 1;
  };
  return m != 3 && fits(options.h) && fits(options.w) && options.groups == 1 &&
         !options.reads_nchw();
}

Result<ir::Program> build_winograd(const Conv2dOptions& options, int m) {
  // What does not fit into memory directly is refused in the direct form's words.
  ATTUNE_ASSIGN(const ir::Program direct, build_conv2d(options));
  CHECK(winograd_applies(options, m), "a convolution that winograd applies to");
  const bool folded = winograd_folds(options, m);
  const WinogradTiles tiles{.m = m,
                            .taps = folded ? static_cast<int>(folded_taps(options)) : 3,
                            .n = options.n,
                            .rows = ceil_div(options.h.positions(), m),
                            .columns = ceil_div(options.w.positions(), m),
                            .in = folded ? folded_cut(options) : options.cut(),
                            .in_columns = folded && options.reads_nchw() ? options.w.stride : 0,
                            .oc_blocks = options.channels().oc_blocks(),
                            .block = options.block};
  ir::Program program{direct.name, {}, {}, {}};
  const Conv2dInputs inputs = add_conv2d_inputs(program, options);
  const ir::Buffer filter = folded ? add_folded_filter(program, options, inputs.weight)
                                   : add_conv2d_filter(program, options, inputs.weight);
  const Border whole_tiles{.bottom = tiles.rows * m - options.h.positions(),
                           .right = tiles.columns * m - options.w.positions()};
  const ir::Buffer input =
      folded ? add_folded_input(program, options, inputs.data, tiles.rows * m, tiles.columns * m)
             : add_conv2d_pad(program, options, inputs.data, whole_tiles);
  const ir::Buffer rows = add_winograd_stages(program, tiles, filter, input);
  const ir::Expr size = m;
  const WinogradPlace place{.tile_row = ir::var("oh") / size,
                            .row = ir::var("oh") % size,
                            .tile_column = ir::var("ow") / size,
                            .column = ir::var("ow") % size};
  const std::vector<ir::Axis> axes = conv2d_output_axes(options);
  const ir::Buffer result =
      ir::add_compute(program, "output.wino", axes, winograd_output(tiles, rows, place));
  add_output(program, result, axes, options.dtype);
  return check_memory(std::move(program));
}

}  // namespace attune::ops
