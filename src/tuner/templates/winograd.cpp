// Winograd convolution F(m,3) (Lavin and Gray 2016): transformed inputs are made once for all
// tiles; then, group of output channels by group, the products of all tiles, from register tiles of
// tiles x channel blocks, and right away their output transform, so that the products stay in the
// cache. Transformed weights lie in the order in which they are read and are made ahead of time.
// The phases of a transposed convolution are one such convolution each, all in the same loops;
// where several share a block, the output picks its elements from their results in a pass of its
// own.
#include <algorithm>

#include "tuner/templates/families.h"
#include "tuner/templates/fused_stages.h"
#include "tuner/templates/program_facts.h"

namespace attune::templates {
namespace {

const std::vector<std::string> kOwn{"filter",     "filter.rows", "filter.wino", "pad",
                                    "input.rows", "input.wino",  "output.rows", "output.wino"};

struct Shape {
  std::int64_t n, oc, ic, ib, tiles, ob;
  std::int64_t height, width;  // rows and columns that one tile makes
  std::int64_t points;         // products per tile and channel, of all phases
  std::int64_t rows;           // of tiles
  schedule::Names phases;      // loops over them, if there are any
};

// The stage whose loops everything is computed in: the last one, or the results of the convolution
// where the last one arranges them differently.
const ir::Stage& host_of(const ir::Program& program) {
  const ir::Stage& output = *program.find_stage("output");
  const ir::Stage& transformed = *program.find_stage("output.wino");
  return same_extents(transformed, output) ? output : transformed;
}

Shape shape_of(const ir::Program& program) {
  const ir::Stage& anchor = *program.find_stage("anchor");
  const ir::Stage& output = host_of(program);
  const std::int64_t places = extent_of(*program.find_stage("output.rows"), "y");
  Shape shape{.n = output.axes[0].extent,
              .oc = extent_of(anchor, "oc"),
              .ic = extent_of(anchor, "ic") * extent_of(anchor, "ib"),
              .ib = extent_of(anchor, "ib"),
              .tiles = extent_of(anchor, "tile"),
              .ob = extent_of(anchor, "ob"),
              .height = places,
              .width = places,
              .points = extent_of(anchor, "i") * extent_of(anchor, "j"),
              .rows = 1,
              .phases = {}};
  if (const std::int64_t ph = extent_of(anchor, "ph"); ph > 0) {
    const std::int64_t pw = extent_of(anchor, "pw");
    shape.height *= ph;
    shape.width *= pw;
    shape.points *= ph * pw;
    shape.phases = {"ph", "pw"};
  }
  shape.rows = (output.axes[2].extent + shape.height - 1) / shape.height;
  return shape;
}

// Names of loops, the phases' where the list says "*".
schedule::Names with_phases(const Shape& s, const schedule::Names& names) {
  schedule::Names all;
  for (const std::string& name : names) {
    if (name != "*") {
      all.push_back(name);
    } else {
      all.insert(all.end(), s.phases.begin(), s.phases.end());
    }
  }
  return all;
}

bool fits(const ir::Program& program) {
  const ir::Stage* anchor = program.find_stage("anchor");
  const ir::Stage* transformed = program.find_stage("output.wino");
  const ir::Stage* output = program.find_stage("output");
  return anchor &&
         (has_axes(*anchor, {"i", "j", "oc", "tile", "ob"}, {"ic", "ib"}) ||
          has_axes(*anchor, {"i", "j", "ph", "pw", "oc", "tile", "ob"}, {"ic", "ib"})) &&
         program.find_stage("input.wino") && program.find_stage("output.rows") && output &&
         transformed && transformed->axes.size() == 5 && output->axes.size() == 5 &&
         FusedStages(program, kOwn).placeable();
}

std::int64_t weight_bytes(const Shape& s) {
  constexpr std::int64_t kElement = 4;
  return s.points * s.ic * s.oc * s.ob * kElement;
}

// Whether they come from far away each time.
bool large_weights(const Shape& s, const target::Target& target) {
  return 2 * weight_bytes(s) > target.l2_bytes;
}

std::vector<space::Knob> knobs(const ir::Program& program, const target::Target& target) {
  const Shape s = shape_of(program);
  std::vector<std::int64_t> blocks{0};
  for (const space::Choice& size :
       block_sizes("block", s.rows, s.rows, {1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14}).choices) {
    if (size.numbers[0] < s.rows || s.n > 1) blocks.push_back(size.numbers[0]);
  }
  return {all_register_tiles("tile", s.tiles, s.oc, target),
          unroll_steps("unroll", extent_of(*program.find_stage("anchor"), "ib")),
          // Whether the weights of the next product are asked for while those of this one are used.
          space::choice_of("prefetch", large_weights(s, target) ? std::vector<std::int64_t>{0, 1}
                                                                : std::vector<std::int64_t>{0}),
          // Rows of tiles that run through all steps before the next ones do, split between the
          // threads; 0: all tiles at once, output channels split between the threads.
          space::choice_of("block", blocks),
          // The outer loop of the products: 0 over points of the tiles, whose weights are used for
          // all tiles of a block at once, 1 over tiles.
          space::choice_of("outer", {0, 1}),
          // The operand that is loaded first and held while the other streams: 0 the smaller one.
          space::choice_of("held", {0, 1})};
}

std::optional<std::string> reject(const ir::Program& program, const target::Target& target,
                                  const space::Values& values) {
  const Shape s = shape_of(program);
  const auto tile = values.numbers("tile");
  return tile_flaw(tile[0], tile[1], {s.tiles, s.oc}, target);
}

// Blocks of tiles whose transformed inputs and products stay in the cache, unless the transformed
// weights, which every block reads again, are too large for that.
std::int64_t best_block(const Shape& s, std::int64_t channel_blocks, const target::Target& target) {
  constexpr std::int64_t kElement = 4;
  const std::int64_t groups = (s.oc + channel_blocks - 1) / channel_blocks;
  const std::int64_t weights = weight_bytes(s);
  const std::int64_t row = s.points * s.ic * s.tiles / (s.n * s.rows) * kElement;
  const std::int64_t products =
      s.points * channel_blocks * s.ob * s.tiles / (s.n * s.rows) * kElement;
  const bool splits_well = imbalance(groups, target) < 1.05;
  if (splits_well && (weights > 3 * target.l2_bytes || row * s.rows * s.n < target.l2_bytes)) {
    return 0;
  }
  std::int64_t best = 1;
  double least = 0;
  for (std::int64_t rows = 1; rows <= 14; ++rows) {
    if (rows > s.rows || (rows > 1 && rows * (row + products) > target.l2_bytes)) continue;
    const std::int64_t blocks = (s.rows + rows - 1) / rows;
    const double uneven = static_cast<double>(blocks * rows) / static_cast<double>(s.rows);
    // Each block reads all weights once.
    const double traffic = static_cast<double>(weights) / static_cast<double>(rows * row);
    const double time = imbalance(s.n * blocks, target) * uneven + 0.02 * traffic;
    if (least == 0 || time < least) least = time, best = rows;
  }
  return best;
}

space::Settings default_values(const ir::Program& program, const target::Target& target) {
  const Shape s = shape_of(program);
  const auto tiles = register_tiles("tile", s.tiles, s.oc, target);
  space::Choice tile = best_tile(tiles, s.tiles, s.oc);
  const auto splits = [&](const space::Choice& choice) {
    return imbalance((s.oc + choice.numbers[1] - 1) / choice.numbers[1], target) < 1.05;
  };
  if (!splits(tile)) {
    space::Knob even = tiles;
    std::erase_if(even.choices, [&](const space::Choice& choice) { return !splits(choice); });
    if (!even.choices.empty()) tile = best_tile(even, s.tiles, s.oc);
  }
  const std::int64_t block = best_block(s, tile.numbers[1], target);
  // Tiles beyond the end of a block are transformed and multiplied in vain.
  if (block > 0) tile = best_tile(tiles, block * (s.tiles / (s.n * s.rows)), s.oc);
  return {{"tile", tile},       {"unroll", {{1}}}, {"prefetch", {{0}}},
          {"block", {{block}}}, {"outer", {{0}}},  {"held", {{0}}}};
}

void transform_weights(TraceWriter& t, const ir::Program& program, const Shape& s,
                       std::int64_t group) {
  t.inline_if_present(program, "filter");
  t.compute_at("filter.rows", "filter.wino", "ic");
  t.reorder("filter.wino", with_phases(s, {"*", "oc", "ic", "i", "j"}));
  t.unroll("filter.wino", "j");
  t.unroll("filter.rows", "i");
  const std::string width = std::to_string(group);
  t.layout("filter.wino", with_phases(s, {"oc/" + width, "*", "i", "j", "ic", "oc%" + width}));
}

// All at once, or at the loop of the output that is given.
void transform_input(TraceWriter& t, const ir::Program& program, const Shape& s,
                     const std::string& place) {
  t.split("input.wino", "tile", {s.tiles / (s.n * s.rows)});
  t.reorder("input.wino", with_phases(s, {"ic", "tile.0", "*", "tile.1", "i", "j", "ib"}));
  if (place.empty()) {
    t.parallel("input.wino", "ic");
  } else {
    t.compute_at("input.wino", host_of(program).name, place);
  }
  t.compute_at("input.rows", "input.wino", "tile.1");
  // The border is copied row of tiles by row of tiles, so that it stays in the nearest cache.
  if (program.find_stage("pad")) {
    t.compute_at("pad", "input.wino", "tile.0");
    t.vectorize("pad", program.find_stage("pad")->axes.back().name);
  }
  // One column, then one row at a time is written out: a whole tile does not fit into registers.
  t.reorder("input.rows", with_phases(s, {"*", "ic", "tile", "c", "i", "ib"}));
  t.unroll("input.rows", "i");
  t.unroll("input.wino", "j");
  t.vectorize("input.rows", "ib");
  t.vectorize("input.wino", "ib");
}

void multiply(TraceWriter& t, const Shape& s, const space::Values& values) {
  const auto tile = values.numbers("tile");
  t.split("anchor", "tile", {tile[0]});
  const bool tiles_inside = values["outer"] == 0;
  t.reorder("anchor",
            with_phases(s, tiles_inside
                               ? schedule::Names{"*", "i", "j", "tile.0", "tile.1", "oc", "ob"}
                               : schedule::Names{"tile.0", "*", "i", "j", "tile.1", "oc", "ob"}));
  t.compute_at("cache.anchor", "anchor", tiles_inside ? "tile.0" : "j");
  for (const char* loop : {"tile.1", "oc"}) t.unroll("anchor", loop);
  t.vectorize("anchor", "ob");
  t.registers("cache.anchor");
  schedule::Names order = with_phases(s, {"*", "i", "j", "ic"});
  if (values["unroll"] > 1) {
    t.split("cache.anchor", "ib", {values["unroll"]});
    order.insert(order.end(), {"ib.0", "ib.1"});
    t.unroll("cache.anchor", "ib.1");
  } else {
    order.push_back("ib");
  }
  if ((tile[1] <= tile[0]) == (values["held"] == 0)) {
    order.insert(order.end(), {"tile", "oc", "ob"});
  } else {
    order.insert(order.end(), {"oc", "tile", "ob"});
  }
  t.reorder("cache.anchor", order);
  if (values["prefetch"] == 1) {
    // Where the whole loop is written out, requests are spread over it.
    const bool whole = values["unroll"] >= s.ib && s.ib > 1;
    t.annotate("cache.anchor",
               whole                  ? "ib.1"
               : values["unroll"] > 1 ? "ib.0"
                                      : "ib",
               "prefetch", "next");
  }
  for (const char* loop : {"tile", "oc"}) t.unroll("cache.anchor", loop);
  t.vectorize("cache.anchor", "ob");
}

// The loops of the host down to its tiles.
void place_outer_loops(TraceWriter& t, const ir::Stage& host, const Shape& s,
                       const space::Values& values) {
  const std::string n = host.axes[0].name, oc = host.axes[1].name, oh = host.axes[2].name,
                    ow = host.axes[3].name, ob = host.axes[4].name;
  t.split(host.name, oc, {values.numbers("tile")[1]});
  t.split(host.name, ow, {s.width});
  if (values["block"] == 0) {
    t.split(host.name, oh, {s.height});
    t.reorder(host.name, {n, oc + ".0", oc + ".1", oh + ".0", ow + ".0", oh + ".1", ow + ".1", ob});
  } else {
    t.split(host.name, oh, {values["block"], s.height});
    t.reorder(host.name,
              {n, oh + ".0", oc + ".0", oc + ".1", oh + ".1", ow + ".0", oh + ".2", ow + ".1", ob});
  }
}

schedule::Trace trace(const ir::Program& program, const target::Target& target,
                      const space::Values& values) {
  const Shape s = shape_of(program);
  const ir::Stage& host = host_of(program);
  const std::string n = host.axes[0].name, oc = host.axes[1].name, oh = host.axes[2].name,
                    ow = host.axes[3].name, ob = host.axes[4].name;
  const bool last = host.name == "output";
  const FusedStages fused(program, kOwn);
  TraceWriter t;
  fused.place(t, target);
  t.cache_write("anchor");
  transform_weights(t, program, s, values.numbers("tile")[1] * s.ob);
  if (last) t.inline_stage("output.wino");
  place_outer_loops(t, host, s, values);
  if (last) fused.attach(t, target, ow + ".0");
  t.compute_at("output.rows", host.name, ow + ".0");
  t.compute_at("anchor", host.name, oc + ".0");
  multiply(t, s, values);
  t.reorder("output.rows", with_phases(s, {"oc", "tile", "*", "j", "y", "ob"}));
  t.unroll("output.rows", "y");
  t.unroll(host.name, ow + ".1");
  t.vectorize("output.rows", "ob");
  t.vectorize(host.name, ob);
  // The loop that is split between the threads; what is computed in it is placed after fusing.
  const std::int64_t block = values["block"];
  std::string outer = block == 0 ? oc + ".0" : oh + ".0";
  if (block > 0 && s.n > 1) {
    t.fuse(host.name, {n, outer});
    outer = fused_name({n, outer});
  }
  t.parallel(host.name, outer);
  transform_input(t, program, s, block == 0 ? "" : outer);
  if (!last) run_in_vectors(t, *program.find_stage("output"), target, 4, Tail::LastAxis);
  return t.take();
}

}  // namespace

space::Template winograd() { return {"winograd", fits, knobs, trace, default_values, reject}; }

}  // namespace attune::templates
