#include "compiler/ops/algorithms/winograd_stages.h"

#include <algorithm>

#include "compiler/ops/element_types.h"

namespace attune::ops {
namespace {

using Index = std::vector<ir::Expr>;

// The elements at(0), at(1), … that a transform combines.
template <typename At>
Index terms(std::int64_t count, const At& at) {
  Index values;
  for (std::int64_t i = 0; i < count; ++i) values.push_back(at(ir::Expr(i)));
  return values;
}

class Stages {
 public:
  Stages(ir::Program& program, const WinogradTiles& tiles)
      : program_(program), tiles_(tiles), matrices_(winograd_matrices(tiles.m, tiles.taps)) {
    for (const ir::Axis& axis : tiles.phases) phase_.push_back(ir::axis_var(axis));
  }

  ir::Buffer filter(const ir::Buffer& filter) {
    const ir::Axis i{"i", tiles_.t()};
    const ir::Axis oc{"oc", filter->shape[0]};
    const ir::Axis ic{"ic", filter->shape[1]};
    const Index channels{ir::axis_var(oc), ir::axis_var(ic)};
    const auto taps = terms(tiles_.taps, [&](const ir::Expr& kh) {
      const Index index = joined({channels, phase_, {kh, ir::var("kw")}});
      return ir::cast(ir::kF32, ir::load(filter, index));
    });
    const ir::Buffer rows =
        ir::add_compute(program_, "filter.rows", axes(i, {"kw", tiles_.taps}, {oc, ic}),
                        transform(matrices_.filter, ir::var("i"), taps, Bracket::Parity));
    const auto columns = terms(tiles_.taps, [&](const ir::Expr& kw) {
      return ir::load(rows, joined({{ir::var("i"), kw}, phase_, channels}));
    });
    return ir::add_compute(program_, "filter.wino", axes(i, {"j", tiles_.t()}, {oc, ic}),
                           transform(matrices_.filter, ir::var("j"), columns, Bracket::Parity));
  }

  ir::Buffer input(const ir::Buffer& input) {
    const ir::Axis i{"i", tiles_.t()};
    const std::vector<ir::Axis> rest{
        {"ic", tiles_.in.blocks}, {"tile", tiles_.count()}, {"ib", tiles_.in.lanes}};
    const Index at = joined({{ir::var("ic")}, {ir::var("tile")}, {ir::var("ib")}});
    const ir::Expr line = at[1] / ir::Expr(tiles_.columns);
    const ir::Expr image = tiles_.n == 1 ? ir::Expr(0) : line / ir::Expr(tiles_.rows);
    const ir::Expr line_of_image = tiles_.n == 1 ? line : line % ir::Expr(tiles_.rows);
    ir::Expr row = line_of_image * ir::Expr(tiles_.m);
    ir::Expr column = at[1] % ir::Expr(tiles_.columns) * ir::Expr(tiles_.m) + ir::var("c");
    if (tiles_.row_offset) row = row + tiles_.row_offset;
    if (tiles_.column_offset) column = column + tiles_.column_offset;

    const auto pixels = terms(tiles_.t(), [&](const ir::Expr& r) {
      return ir::cast(ir::kF32,
                      ir::load(input, joined({{image, at[0], row + r, column}, lane_of(at[2])})));
    });
    const ir::Buffer rows =
        ir::add_compute(program_, "input.rows", axes(i, {"c", tiles_.t()}, rest),
                        transform(matrices_.input, ir::var("i"), pixels, Bracket::Parity));
    const auto columns = terms(tiles_.t(), [&](const ir::Expr& c) {
      return ir::load(rows, joined({{ir::var("i"), c}, phase_, at}));
    });
    return ir::add_compute(program_, "input.wino", axes(i, {"j", tiles_.t()}, rest),
                           transform(matrices_.input, ir::var("j"), columns, Bracket::Parity));
  }

  ir::Buffer products(const ir::Buffer& filter, const ir::Buffer& input) {
    const ir::Expr out = ir::var("oc") * ir::Expr(tiles_.block) + ir::var("ob");
    const ir::Expr in = ir::var("ic") * ir::Expr(tiles_.in.lanes) + ir::var("ib");
    const Index point{ir::var("i"), ir::var("j")};
    const ir::Expr value =
        ir::load(input, joined({point, phase_, {ir::var("ic"), ir::var("tile"), ir::var("ib")}})) *
        ir::load(filter, joined({point, phase_, {out, in}}));
    return ir::add_reduce(program_, "anchor", axes({"i", tiles_.t()}, {"j", tiles_.t()}, results()),
                          {{"ic", tiles_.in.blocks}, {"ib", tiles_.in.lanes}}, ir::Reduction::Sum,
                          value);
  }

  ir::Buffer output_rows(const ir::Buffer& anchor) {
    const Index at{ir::var("oc"), ir::var("tile"), ir::var("ob")};
    const auto products = terms(tiles_.t(), [&](const ir::Expr& i) {
      return ir::load(anchor, joined({{i, ir::var("j")}, phase_, at}));
    });
    return ir::add_compute(program_, "output.rows",
                           axes({"y", tiles_.m}, {"j", tiles_.t()}, results()),
                           transform(matrices_.output, ir::var("y"), products, Bracket::Pairs));
  }

 private:
  Index lane_of(const ir::Expr& lane) const {
    if (tiles_.in_columns == 0) return {lane};
    return {lane / ir::Expr(tiles_.in_columns), lane % ir::Expr(tiles_.in_columns)};
  }

  static Index joined(const std::vector<Index>& parts) {
    Index all;
    for (const Index& part : parts) all.insert(all.end(), part.begin(), part.end());
    return all;
  }

  std::vector<ir::Axis> axes(const ir::Axis& first, const ir::Axis& second,
                             const std::vector<ir::Axis>& rest) const {
    std::vector<ir::Axis> all{first, second};
    all.insert(all.end(), tiles_.phases.begin(), tiles_.phases.end());
    all.insert(all.end(), rest.begin(), rest.end());
    return all;
  }

  std::vector<ir::Axis> results() const {
    return {{"oc", tiles_.oc_blocks}, {"tile", tiles_.count()}, {"ob", tiles_.block}};
  }

  ir::Program& program_;
  const WinogradTiles& tiles_;
  WinogradMatrices matrices_;
  Index phase_;
};

}  // namespace

ir::Buffer add_winograd_stages(ir::Program& program, const WinogradTiles& tiles,
                               const ir::Buffer& filter, const ir::Buffer& input) {
  Stages stages(program, tiles);
  const ir::Buffer weights = stages.filter(filter);
  const ir::Buffer values = stages.input(input);
  return stages.output_rows(stages.products(weights, values));
}

ir::Expr winograd_output(const WinogradTiles& tiles, const ir::Buffer& rows,
                         const WinogradPlace& place) {
  const ir::Expr line =
      tiles.n == 1 ? place.tile_row : ir::var("n") * ir::Expr(tiles.rows) + place.tile_row;
  const ir::Expr tile = line * ir::Expr(tiles.columns) + place.tile_column;
  const auto columns = terms(tiles.t(), [&](const ir::Expr& j) {
    Index index{place.row, j};
    index.insert(index.end(), place.phase.begin(), place.phase.end());
    index.insert(index.end(), {ir::var("oc"), tile, ir::var("ob")});
    return ir::load(rows, index);
  });
  return transform(winograd_matrices(tiles.m, tiles.taps).output, place.column, columns,
                   Bracket::Pairs);
}

double winograd_tolerance(int m, ir::DType type) {
  const double own = m <= 2 ? 3e-5 : m <= 4 ? 1e-4 : 5e-4;
  return std::max(own, tolerance_of(type));
}

}  // namespace attune::ops
