#include "compiler/ops/winograd.h"

#include "compiler/ops/limits.h"
#include "compiler/ops/winograd_stages.h"

namespace attune::ops {

bool winograd_applies(const Conv2dOptions& options) {
  const auto fits = [](const Window& window) {
    return window.kernel == 3 && window.stride == 1 && window.dilation == 1;
  };
  return fits(options.h) && fits(options.w) && options.groups == 1 && !options.reads_nchw() &&
         options.dtype.is_float();
}

Result<ir::Program> build_winograd(const Conv2dOptions& options, int m) {
  // What does not fit into memory directly is refused in the direct form's words.
  ATTUNE_ASSIGN(const ir::Program direct, build_conv2d(options));
  CHECK(winograd_applies(options), "a convolution that winograd applies to");
  const WinogradTiles tiles{.m = m,
                            .n = options.n,
                            .rows = ceil_div(options.h.positions(), m),
                            .columns = ceil_div(options.w.positions(), m),
                            .in = options.cut(),
                            .oc_blocks = options.channels().oc_blocks(),
                            .block = options.block};
  ir::Program program{direct.name, {}, {}, {}};
  const Conv2dInputs inputs = add_conv2d_inputs(program, options);
  const ir::Buffer filter = add_conv2d_filter(program, options, inputs.weight);
  const Border whole_tiles{.bottom = tiles.rows * m - options.h.positions(),
                           .right = tiles.columns * m - options.w.positions()};
  const ir::Buffer input = add_conv2d_pad(program, options, inputs.data, whole_tiles);
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
