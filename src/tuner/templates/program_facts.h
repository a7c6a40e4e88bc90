// What templates ask of a program.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/ir/nodes/tensor_expr.h"
#include "compiler/target/target.h"
#include "tuner/space/knob.h"

namespace attune::templates {

inline bool reduces(const ir::Stage& stage) { return stage.reduction != ir::Reduction::None; }
// The extent of an axis or reduce axis; 0 when the stage has none of that name.
std::int64_t extent_of(const ir::Stage& stage, std::string_view axis);
bool has_axes(const ir::Stage& stage, const std::vector<std::string>& axes,
              const std::vector<std::string>& reduce_axes);
// Whether the two stages have the same axes, whatever they are called.
bool same_extents(const ir::Stage& a, const ir::Stage& b);
// Elements of the stage's (first) type in one vector register.
std::int64_t lanes_of(const ir::Stage& stage, const target::Target& target);

// Sums are taken in parts, and those added up: rounding errors of a sum of n terms grow with the
// square root of n, those of n / p parts of p terms with the root of p + n / p. How many of
// `extent` steps, each of `terms` terms, make a part of about `length` terms; all of them where
// they are hardly more, and where nothing is rounded. Adding up parts of a hundred terms costs a
// hundredth.
std::int64_t steps_of_part(const ir::Stage& stage, std::int64_t extent, std::int64_t terms,
                           std::int64_t length = 128);

// Register tiles of rows x vectors: `rows` broadcasts meet `vectors` vectors, one accumulator each.
// All that fit into the registers (accumulators + the smaller operand, held, + 1) and keep the
// arithmetic units busy; fewer where the extents are small. What defaults are chosen from.
space::Knob register_tiles(std::string name, std::int64_t rows, std::int64_t vectors,
                           const target::Target& target);
// What tuning chooses from: those and all others, up to twice as many accumulators as there are
// registers.
space::Knob all_register_tiles(std::string name, std::int64_t rows, std::int64_t vectors,
                               const target::Target& target);
// Why a tile is hopeless, where the operator has so many rows and vectors to offer.
struct TileRoom {
  std::int64_t rows, vectors;
};
std::optional<std::string> tile_flaw(std::int64_t rows, std::int64_t vectors, const TileRoom& room,
                                     const target::Target& target);
// One inner factor: tile sizes that cut the extent evenly, up to `most`, and `also`, which must be
// among the choices.
space::Knob block_sizes(std::string name, std::int64_t extent, std::int64_t most,
                        const std::vector<std::int64_t>& also);
// How many steps of a reduction are written out: powers of two up to its extent.
space::Knob unroll_steps(std::string name, std::int64_t extent);
// Time that `pieces` of equal work take on the target's threads, each of which gets a contiguous
// range of them, over the time they would take if they were split evenly.
double imbalance(std::int64_t pieces, const target::Target& target);
// The one to start from: of the tiles that waste least at the edges, the one with most
// accumulators.
space::Choice best_tile(const space::Knob& tiles, std::int64_t rows, std::int64_t vectors);

}  // namespace attune::templates
