// Direct convolution on blocked activations, nChw[B]c. A register tile is pixels x output-channel
// blocks (x rows on small images); its accumulators live in registers over a part of the reduction,
// and the parts are added up in the cache. The border is not padded: loops are cut where the window
// leaves the image. Weights lie in the order in which they are read. Also fits transposed
// convolution without stride, which has the same axes.
#include <algorithm>

#include "tuner/templates/families.h"
#include "tuner/templates/fused_stages.h"
#include "tuner/templates/program_facts.h"

namespace attune::templates {
namespace {

// Multiply-adds written out in one loop body: more only costs compile time.
constexpr std::int64_t kLongestBody = 320;

const std::vector<std::string> kOwn{"filter", "pad"};

struct Shape {
  std::int64_t n, oc, oh, ow, ob, ic, kh, kw, ib;  // ib is 0 when the input is not blocked
};

Shape shape_of(const ir::Program& program) {
  const ir::Stage& a = *program.find_stage("anchor");
  return {extent_of(a, "n"),  extent_of(a, "oc"), extent_of(a, "oh"),
          extent_of(a, "ow"), extent_of(a, "ob"), extent_of(a, "ic"),
          extent_of(a, "kh"), extent_of(a, "kw"), extent_of(a, "ib")};
}

bool fits(const ir::Program& program) {
  const ir::Stage* anchor = program.find_stage("anchor");
  const ir::Stage* output = program.find_stage("output");
  if (!anchor || !output || !program.find_stage("filter")) return false;
  return (has_axes(*anchor, {"n", "oc", "oh", "ow", "ob"}, {"ic", "kh", "kw", "ib"}) ||
          has_axes(*anchor, {"n", "oc", "oh", "ow", "ob"}, {"ic", "kh", "kw"})) &&
         same_extents(*anchor, *output) && FusedStages(program, kOwn).placeable();
}

std::vector<space::Knob> knobs(const ir::Program& program, const target::Target& target) {
  const Shape s = shape_of(program);
  std::vector<space::Knob> list;
  list.push_back(all_register_tiles("tile", s.ow, s.oc, target));
  list.push_back(space::split_list("tile_rows", s.oh, {1, 2, 3, 4}));
  // Rows of the output that make a block.
  list.push_back(block_sizes("rows", s.oh, s.oh, {1, 2, 4, 7, 14}));
  // The order of the loops around a tile: groups of output channels, blocks of rows, rows of a
  // block, pixels.
  list.push_back(space::reorder_interleaved("order", {1, 2, 1}));
  list.push_back(unroll_steps("unroll", s.ib));
  // What of the window is written out: 0 nothing, 1 a row, 2 all of it.
  std::vector<std::int64_t> window{0};
  if (s.kw > 1) window.push_back(1);
  if (s.kh > 1) window.push_back(2);
  list.push_back(space::choice_of("unroll_kw", window));
  // The operand that is loaded first and held while the other streams: 0 the smaller one.
  list.push_back(space::choice_of("held", {0, 1}));
  // How many of the outermost loops the threads share.
  list.push_back(space::choice_of("shared", target.threads > 1 ? std::vector<std::int64_t>{1, 2}
                                                               : std::vector<std::int64_t>{1}));
  // Which loop is around all others: 0 that over the images, 1 the first around a tile, so that all
  // images find its weights in the cache.
  if (s.n > 1) list.push_back(space::choice_of("images", {0, 1}));
  return list;
}

// How the work is split: blocks of about four rows, or the output channels, whichever gives the
// threads more equal shares.
struct Division {
  std::int64_t rows, outer;
};

Division best_division(const Shape& s, std::int64_t channel_blocks, const target::Target& target) {
  Division best{4, 0};
  double least = 0;
  for (const std::int64_t rows : {4, 2, 7, 1}) {
    if (rows > s.oh) continue;
    const std::int64_t blocks = (s.oh + rows - 1) / rows;
    const double uneven = static_cast<double>(blocks * rows) / static_cast<double>(s.oh);
    double time = imbalance(s.n * blocks, target) * (target.threads > 1 ? uneven : 1.0);
    time += rows == 4 ? 0.0 : rows == 1 ? 0.04 : 0.01;
    if (least == 0 || time < least) least = time, best = {rows, 0};
  }
  const std::int64_t groups = (s.oc + channel_blocks - 1) / channel_blocks;
  const double uneven = static_cast<double>(groups * channel_blocks) /
                        static_cast<double>(std::max<std::int64_t>(1, s.oc));
  const double time = imbalance(s.n * groups, target) * (target.threads > 1 ? uneven : 1.0);
  // Small images with many weights read these once when the channels are outermost. But then every
  // thread reads all of the image, most of which another one has written: with one tap, which needs
  // few weights, that costs more.
  const bool one_tap = s.kh * s.kw == 1 && target.threads > 1;
  const double bonus = one_tap ? -0.04 : s.oh <= 14 ? 0.02 : -0.01;
  if (time - bonus < least) best = {4, 1};
  return best;
}

space::Settings default_values(const ir::Program& program, const target::Target& target) {
  const Shape s = shape_of(program);
  const auto tiles = register_tiles("tile", s.ow, s.oc, target);
  space::Choice tile = best_tile(tiles, s.ow, s.oc);
  const Division division = best_division(s, tile.numbers[1], target);
  if (division.outer == 1) {
    space::Knob even = tiles;
    std::erase_if(even.choices, [&](const space::Choice& choice) {
      return s.oc % (choice.numbers[1] * std::max(1, target.threads)) != 0;
    });
    if (!even.choices.empty()) tile = best_tile(even, s.ow, s.oc);
  }
  const std::int64_t accumulators = tile.numbers[0] * tile.numbers[1];
  const bool short_row = s.ib == 0 && s.kw * accumulators <= kLongestBody;
  space::Settings settings{
      {"tile", tile},
      {"tile_rows", {{1}}},
      {"rows", {{division.rows}}},
      {"order", division.outer == 1 ? space::Choice{{0, 1, 2, 3}} : space::Choice{{1, 0, 2, 3}}},
      {"unroll", {{1}}},
      {"unroll_kw", {{short_row ? 1 : 0}}},
      {"held", {{0}}},
      {"shared", {{1}}}};
  if (s.n > 1) settings.push_back({"images", {{0}}});
  return settings;
}

std::optional<std::string> reject(const ir::Program& program, const target::Target& target,
                                  const space::Values& values) {
  const auto tile = values.numbers("tile");
  const std::int64_t pixels = tile[0] * values["tile_rows"];
  const Shape s = shape_of(program);
  if (auto flaw = tile_flaw(pixels, tile[1], {s.ow, s.oc}, target)) return flaw;
  const std::int64_t written = values["unroll_kw"];
  const std::int64_t taps = (written > 0 ? s.kw : 1) * (written > 1 ? s.kh : 1) * values["unroll"];
  if (taps * pixels * tile[1] > kLongestBody) return "unrolled body too long";
  return {};
}

// The loops of the output; the anchor is computed at the one that is returned.
std::string place_outer_loops(TraceWriter& t, const ir::Stage& output,
                              const space::Values& values) {
  const auto tile = values.numbers("tile");
  const std::string n = output.axes[0].name, oc = output.axes[1].name, oh = output.axes[2].name,
                    ow = output.axes[3].name, ob = output.axes[4].name;
  const std::int64_t tile_rows = values["tile_rows"];
  const std::int64_t row_tiles = std::max<std::int64_t>(1, values["rows"] / tile_rows);
  t.split("output", oc, {tile[1]});
  t.split("output", oh, {row_tiles, tile_rows});
  t.split("output", ow, {tile[0]});
  const std::string around[] = {oc + ".0", oh + ".0", oh + ".1", ow + ".0"};
  schedule::Names order;
  for (const std::int64_t loop : values.numbers("order")) order.push_back(around[loop]);
  const std::string innermost = order.back();
  const bool several = output.axes[0].extent > 1;
  const std::int64_t outside = several ? values["images"] : 0;  // of the loop over the images
  order.insert(order.begin() + outside, n);
  schedule::Names shared(order.begin() + (several ? 0 : 1),
                         order.begin() + (outside == 0 ? 1 : 0) + values["shared"]);
  order.insert(order.end(), {oh + ".2", ow + ".1", oc + ".1", ob});
  t.reorder("output", order);
  if (shared.size() > 1) t.fuse("output", shared);
  t.parallel("output", fused_name(shared));
  t.unroll("output", oh + ".2");
  t.unroll("output", ow + ".1");
  t.unroll("output", oc + ".1");
  t.vectorize("output", ob);
  return innermost;
}

// Input channels (blocks of them) that one register tile sums up.
std::int64_t part_of(const ir::Program& program, const Shape& s) {
  return steps_of_part(*program.find_stage("anchor"), s.ic,
                       s.kh * s.kw * std::max<std::int64_t>(s.ib, 1));
}

// The sum of the parts; what they are, rf.anchor, is computed at it.
void place_sum_of_parts(TraceWriter& t) {
  t.reorder("anchor", {"n", "ic_0", "oh", "ow", "oc", "ob"});
  t.compute_at("rf.anchor", "anchor", "ic_0");
  t.unroll("anchor", "oh");
  t.unroll("anchor", "ow");
  t.unroll("anchor", "oc");
  t.vectorize("anchor", "ob");
}

// `ic` is the loop over input channels of `stage`, the anchor or a part of it.
void place_register_tile(TraceWriter& t, const Shape& s, const space::Values& values,
                         const std::string& stage, const std::string& ic) {
  const auto tile = values.numbers("tile");
  schedule::Names order{"n", ic, "kh", "kw"};
  const std::int64_t unrolled = values["unroll"];
  if (s.ib > 0 && unrolled < s.ib) {
    t.split(stage, "ib", {unrolled});
    order.insert(order.end(), {"ib.0", "ib.1"});
  } else if (s.ib > 0) {
    order.push_back("ib");
  }
  if ((tile[1] <= tile[0] * values["tile_rows"]) == (values["held"] == 0)) {
    order.insert(order.end(), {"oh", "ow", "oc", "ob"});
  } else {
    order.insert(order.end(), {"oc", "oh", "ow", "ob"});
  }
  t.reorder(stage, order);
  t.registers(stage);
  if (s.ib > 0) t.unroll(stage, unrolled < s.ib ? "ib.1" : "ib");
  if (values["unroll_kw"] > 1) t.unroll(stage, "kh");
  if (values["unroll_kw"] > 0) {
    t.unroll(stage, "kw");
    t.annotate(stage, "kw", "launder", "on");
  }
  t.unroll(stage, "oh");
  t.unroll(stage, "ow");
  t.unroll(stage, "oc");
  t.vectorize(stage, "ob");
}

schedule::Trace trace(const ir::Program& program, const target::Target& target,
                      const space::Values& values) {
  const Shape s = shape_of(program);
  const FusedStages fused(program, kOwn);
  TraceWriter t;
  fused.place(t, target);
  t.inline_if_present(program, "pad");
  const std::int64_t part = part_of(program, s);
  const bool in_parts = part < s.ic;
  if (in_parts) {
    t.split("anchor", "ic", {part});
    t.rfactor("anchor", "ic.0");
  }
  const std::string tile_loop = place_outer_loops(t, *program.find_stage("output"), values);
  fused.attach(t, target, tile_loop);
  t.compute_at("anchor", "output", tile_loop);
  if (in_parts) place_sum_of_parts(t);
  place_register_tile(t, s, values, in_parts ? "rf.anchor" : "anchor", in_parts ? "ic_1" : "ic");
  const std::string group = std::to_string(values.numbers("tile")[1] * s.ob);
  if (s.ib > 1) {
    const std::string block = std::to_string(s.ib);
    t.layout("filter", {"oc/" + group, "ic/" + block, "kh", "kw", "ic%" + block, "oc%" + group});
  } else {
    t.layout("filter", {"oc/" + group, "ic", "kh", "kw", "oc%" + group});
  }
  return t.take();
}

}  // namespace

space::Template conv2d() { return {"conv2d", fits, knobs, trace, default_values, reject}; }

}  // namespace attune::templates
