#include "compiler/ops/winograd.h"

#include <algorithm>

#include "compiler/ops/element_types.h"
#include "compiler/ops/limits.h"
#include "compiler/ops/winograd_matrices.h"

namespace attune::ops {
namespace {

struct Tiling {
  int m;
  std::int64_t t, rows, columns;  // extent of an input tile; tiles over the image
  std::int64_t count;             // tiles of the whole batch
};

Tiling tiling_of(const Conv2dOptions& options, int m) {
  Tiling tiling{.m = m,
                .t = m + 2,
                .rows = ceil_div(options.h.positions(), m),
                .columns = ceil_div(options.w.positions(), m),
                .count = 0};
  tiling.count = options.n * tiling.rows * tiling.columns;
  return tiling;
}

// The elements at(0), at(1), … that a transform combines.
template <typename At>
std::vector<ir::Expr> terms(std::int64_t count, const At& at) {
  std::vector<ir::Expr> values;
  for (std::int64_t i = 0; i < count; ++i) values.push_back(at(ir::Expr(i)));
  return values;
}

ir::Buffer transform_filter(ir::Program& program, const WinogradMatrices& matrices,
                            const ir::Buffer& filter, std::int64_t t) {
  const ir::Axis i{"i", t};
  const ir::Axis oc{"oc", filter->shape[0]};
  const ir::Axis ic{"ic", filter->shape[1]};
  const ir::Expr o = ir::axis_var(oc);
  const ir::Expr c = ir::axis_var(ic);
  const auto taps = terms(3, [&](const ir::Expr& kh) {
    return ir::cast(ir::kF32, ir::load(filter, {o, c, kh, ir::var("kw")}));
  });
  const ir::Buffer rows =
      ir::add_compute(program, "filter.rows", {i, {"kw", 3}, oc, ic},
                      transform(matrices.filter, ir::var("i"), taps, Bracket::Parity));
  const auto columns = terms(3, [&](const ir::Expr& kw) {
    return ir::load(rows, {ir::var("i"), kw, o, c});
  });
  return ir::add_compute(program, "filter.wino", {i, {"j", t}, oc, ic},
                         transform(matrices.filter, ir::var("j"), columns, Bracket::Parity));
}

ir::Buffer transform_input(ir::Program& program, const WinogradMatrices& matrices,
                           const Conv2dOptions& options, const Tiling& tiling,
                           const ir::Buffer& input) {
  const ChannelCut cut = options.cut();
  const ir::Axis i{"i", tiling.t};
  const std::vector<ir::Axis> rest{{"ic", cut.blocks}, {"tile", tiling.count}, {"ib", cut.lanes}};
  const ir::Expr ic = ir::var("ic");
  const ir::Expr tile = ir::var("tile");
  const ir::Expr ib = ir::var("ib");
  const ir::Expr line = tile / ir::Expr(tiling.columns);
  const ir::Expr image = options.n == 1 ? ir::Expr(0) : line / ir::Expr(tiling.rows);
  const ir::Expr row = (options.n == 1 ? line : line % ir::Expr(tiling.rows)) * ir::Expr(tiling.m);
  const ir::Expr column = tile % ir::Expr(tiling.columns) * ir::Expr(tiling.m) + ir::var("c");

  const auto pixels = terms(tiling.t, [&](const ir::Expr& r) {
    return ir::cast(ir::kF32, ir::load(input, {image, ic, row + r, column, ib}));
  });
  const ir::Buffer rows =
      ir::add_compute(program, "input.rows", {i, {"c", tiling.t}, rest[0], rest[1], rest[2]},
                      transform(matrices.input, ir::var("i"), pixels, Bracket::Parity));
  const auto columns = terms(tiling.t, [&](const ir::Expr& c) {
    return ir::load(rows, {ir::var("i"), c, ic, tile, ib});
  });
  return ir::add_compute(program, "input.wino", {i, {"j", tiling.t}, rest[0], rest[1], rest[2]},
                         transform(matrices.input, ir::var("j"), columns, Bracket::Parity));
}

ir::Buffer multiply(ir::Program& program, const Conv2dOptions& options, const Tiling& tiling,
                    const ir::Buffer& filter, const ir::Buffer& input) {
  const ChannelCut cut = options.cut();
  const std::vector<ir::Axis> axes{{"i", tiling.t},
                                   {"j", tiling.t},
                                   {"oc", options.channels().oc_blocks()},
                                   {"tile", tiling.count},
                                   {"ob", options.block}};
  const ir::Expr i = ir::var("i");
  const ir::Expr j = ir::var("j");
  const ir::Expr out = ir::var("oc") * ir::Expr(options.block) + ir::var("ob");
  const ir::Expr in = ir::var("ic") * ir::Expr(cut.lanes) + ir::var("ib");
  const ir::Expr value = ir::load(input, {i, j, ir::var("ic"), ir::var("tile"), ir::var("ib")}) *
                         ir::load(filter, {i, j, out, in});
  return ir::add_reduce(program, "anchor", axes, {{"ic", cut.blocks}, {"ib", cut.lanes}},
                        ir::Reduction::Sum, value);
}

ir::Buffer transform_output(ir::Program& program, const WinogradMatrices& matrices,
                            const Conv2dOptions& options, const Tiling& tiling,
                            const ir::Buffer& anchor) {
  const ir::Expr oc = ir::var("oc");
  const ir::Expr ob = ir::var("ob");
  const auto products = terms(tiling.t, [&](const ir::Expr& i) {
    return ir::load(anchor, {i, ir::var("j"), oc, ir::var("tile"), ob});
  });
  const ir::Buffer rows =
      ir::add_compute(program, "output.rows",
                      {{"y", tiling.m},
                       {"j", tiling.t},
                       {"oc", options.channels().oc_blocks()},
                       {"tile", tiling.count},
                       {"ob", options.block}},
                      transform(matrices.output, ir::var("y"), products, Bracket::Pairs));

  const ir::Expr m = tiling.m;
  const ir::Expr row =
      options.n == 1 ? ir::var("oh") / m : ir::var("n") * ir::Expr(tiling.rows) + ir::var("oh") / m;
  const ir::Expr tile = row * ir::Expr(tiling.columns) + ir::var("ow") / m;
  const auto columns = terms(tiling.t, [&](const ir::Expr& j) {
    return ir::load(rows, {ir::var("oh") % m, j, oc, tile, ob});
  });
  return ir::add_compute(program, "output.wino", conv2d_output_axes(options),
                         transform(matrices.output, ir::var("ow") % m, columns, Bracket::Pairs));
}

}  // namespace

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
  const Tiling tiling = tiling_of(options, m);
  const WinogradMatrices matrices = winograd_matrices(m);
  ir::Program program{direct.name, {}, {}, {}};
  const Conv2dInputs inputs = add_conv2d_inputs(program, options);
  const ir::Buffer filter = transform_filter(
      program, matrices, add_conv2d_filter(program, options, inputs.weight), tiling.t);
  const Border whole_tiles{.bottom = tiling.rows * m - options.h.positions(),
                           .right = tiling.columns * m - options.w.positions()};
  const ir::Buffer input =
      transform_input(program, matrices, options, tiling,
                      add_conv2d_pad(program, options, inputs.data, whole_tiles));
  const ir::Buffer anchor = multiply(program, options, tiling, filter, input);
  const ir::Buffer result = transform_output(program, matrices, options, tiling, anchor);
  add_output(program, result, conv2d_output_axes(options), options.dtype);
  return check_memory(std::move(program));
}

double winograd_tolerance(int m, ir::DType type) {
  const double own = m == 2 ? 3e-5 : m == 4 ? 1e-4 : 5e-4;
  return std::max(own, tolerance_of(type));
}

}  // namespace attune::ops
