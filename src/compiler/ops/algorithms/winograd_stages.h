// The stages that Winograd convolutions F(m, r) are made of: convolutions of stride 1 with r x r
// taps on tiles of m x m outputs and t x t inputs (t = m + r - 1). All are ordinary stages, so a
// trace places the transforms:
//   filter.rows  [i, kw, oc, ic]          G g, depends on constants only, as does
//   filter.wino  [i, j, oc, ic]           (G g) G^T
//   input.rows   [i, c, ic, tile, ib]     B^T d
//   input.wino   [i, j, ic, tile, ib]     (B^T d) B
//   anchor       [i, j, oc, tile, ob]     t * t products over ic, ib
//   output.rows  [y, j, oc, tile, ob]     A^T M
// Tiles are numbered (n * tile rows + row) * tile columns + column. Several convolutions of one
// input run side by side as phases: all stages then have their axes too, after the first two.
#pragma once

#include "compiler/ir/nodes/tensor_expr.h"
#include "compiler/ops/algorithms/winograd_matrices.h"
#include "compiler/ops/forms/channels.h"

namespace attune::ops {

struct WinogradTiles {
  int m = 2;
  int taps = 3;
  std::int64_t n = 1, rows = 1, columns = 1;  // images; tiles over one
  ChannelCut in = {1, 1};
  std::int64_t in_columns = 0;  // lanes of the input are two dimensions, the last of this extent
  std::int64_t oc_blocks = 1, block = 8;
  std::vector<ir::Axis> phases = {};
  // Where a phase's tiles begin in the input, in terms of its axes; empty: at the border.
  ir::Expr row_offset = {}, column_offset = {};

  std::int64_t t() const { return m + taps - 1; }
  std::int64_t count() const { return n * rows * columns; }
};

// filter is [oc, ic, phases…, kh, kw], input [n, c, h, w, B] with its border. Returns
// `output.rows`.
ir::Buffer add_winograd_stages(ir::Program& program, const WinogradTiles& tiles,
                               const ir::Buffer& filter, const ir::Buffer& input);

// An output: its image, channel block and lane are the variables n, oc and ob.
struct WinogradPlace {
  ir::Expr tile_row, row;  // row of tiles in the image; row within the tile
  ir::Expr tile_column, column;
  std::vector<ir::Expr> phase = {};
};
// Its value, (A^T M) A, from `output.rows`.
ir::Expr winograd_output(const WinogradTiles& tiles, const ir::Buffer& rows,
                         const WinogradPlace& place);

// As AlgorithmDef::tolerance.
double winograd_tolerance(int m, ir::DType type);

}  // namespace attune::ops
