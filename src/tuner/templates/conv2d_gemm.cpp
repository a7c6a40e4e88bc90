// Convolution as a matrix product over gathered columns (im2col): the taps of a block of pixels are
// gathered into one buffer that stays in the cache, and register tiles of pixels x output-channel
// blocks multiply it with the weights. Kernels of one tap need no gathering; for them the image is
// one long row of pixels.
#include <algorithm>

#include "tuner/templates/families.h"
#include "tuner/templates/fused_stages.h"
#include "tuner/templates/program_facts.h"

namespace attune::templates {
namespace {

const std::vector<std::string> kOwn{"filter", "filter.gemm", "pad", "columns"};

struct Shape {
  std::int64_t oc, pixels, ob, steps, ib;  // ib is 0 when the input is not blocked
};

Shape shape_of(const ir::Program& program) {
  const ir::Stage& a = *program.find_stage("anchor");
  return {extent_of(a, "oc"), extent_of(a, "p"), extent_of(a, "ob"), extent_of(a, "r"),
          extent_of(a, "ib")};
}

bool fits(const ir::Program& program) {
  const ir::Stage* anchor = program.find_stage("anchor");
  return anchor && program.find_stage("filter.gemm") && program.find_stage("columns") &&
         (has_axes(*anchor, {"n", "oc", "p", "ob"}, {"r", "ib"}) ||
          has_axes(*anchor, {"n", "oc", "p", "ob"}, {"r"})) &&
         FusedStages(program, kOwn).placeable();
}

std::vector<space::Knob> knobs(const ir::Program& program, const target::Target& target) {
  const Shape s = shape_of(program);
  return {all_register_tiles("tile", s.pixels, s.oc, target), unroll_steps("unroll", s.ib),
          // Register tiles whose columns are gathered at once.
          space::choice_of("block", {1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16, 20, 24, 32}),
          // The innermost loop around a tile: 0 over pixels, with the weights held, 1 over groups
          // of output channels.
          space::choice_of("inner", {0, 1}),
          // The operand that is loaded first and held while the other streams: 0 the smaller one.
          space::choice_of("held", {0, 1})};
}

std::optional<std::string> reject(const ir::Program& program, const target::Target& target,
                                  const space::Values& values) {
  const Shape s = shape_of(program);
  const auto tile = values.numbers("tile");
  return tile_flaw(tile[0], tile[1], {s.pixels, s.oc}, target);
}

space::Settings default_values(const ir::Program& program, const target::Target& target) {
  const Shape s = shape_of(program);
  const auto tiles = register_tiles("tile", s.pixels, s.oc, target);
  const space::Choice tile = best_tile(tiles, s.pixels, s.oc);
  const std::int64_t column = s.steps * std::max<std::int64_t>(1, s.ib) * 4;
  const std::int64_t share = s.pixels / (tile.numbers[0] * std::max(1, target.threads));
  const std::int64_t block = std::min(target.l2_bytes / 2 / (column * tile.numbers[0]), share);
  return {{"tile", tile},
          {"unroll", {{1}}},
          {"block", {{std::clamp<std::int64_t>(block, 1, 16)}}},
          {"inner", {{0}}},
          {"held", {{0}}}};
}

void multiply(TraceWriter& t, const Shape& s, const space::Values& values) {
  const auto tile = values.numbers("tile");
  t.registers("cache.anchor");
  schedule::Names order{"n", "r"};
  const std::int64_t unrolled = values["unroll"];
  if (s.ib > unrolled) {
    t.split("cache.anchor", "ib", {unrolled});
    order.insert(order.end(), {"ib.0", "ib.1"});
    t.unroll("cache.anchor", "ib.1");
  } else if (s.ib > 0) {
    order.push_back("ib");
  }
  if ((tile[1] <= tile[0]) == (values["held"] == 0)) {
    order.insert(order.end(), {"p", "oc", "ob"});
  } else {
    order.insert(order.end(), {"oc", "p", "ob"});
  }
  t.reorder("cache.anchor", order);
  t.unroll("cache.anchor", "p");
  t.unroll("cache.anchor", "oc");
  t.vectorize("cache.anchor", "ob");
}

void gather(TraceWriter& t, const ir::Program& program, const Shape& s, const std::string& loop) {
  t.inline_if_present(program, "pad");
  const ir::Stage& filter = *program.find_stage("filter");
  if (extent_of(filter, "kh") * extent_of(filter, "kw") == 1) {
    t.inline_stage("columns");
    return;
  }
  t.compute_at("columns", "anchor", loop);
  if (s.ib > 0) t.vectorize("columns", "ib");
}

schedule::Trace trace(const ir::Program& program, const target::Target& target,
                      const space::Values& values) {
  const Shape s = shape_of(program);
  const auto tile = values.numbers("tile");
  const FusedStages fused(program, kOwn);
  TraceWriter t;
  fused.place(t, target);
  t.cache_write("anchor");
  t.split("anchor", "oc", {tile[1]});
  t.split("anchor", "p", {values["block"], tile[0]});
  const std::string tile_loop = values["inner"] == 0 ? "p.1" : "oc.0";
  t.reorder("anchor",
            {"n", "p.0", tile_loop == "p.1" ? "oc.0" : "p.1", tile_loop, "p.2", "oc.1", "ob"});
  t.compute_at("cache.anchor", "anchor", tile_loop);
  t.fuse("anchor", {"n", "p.0"});
  gather(t, program, s, "n*p.0");
  multiply(t, s, values);
  t.parallel("anchor", "n*p.0");
  t.unroll("anchor", "p.2");
  t.unroll("anchor", "oc.1");
  t.vectorize("anchor", "ob");
  run_in_vectors(t, *program.find_stage("output"), target, 4, Tail::LastAxis);
  t.inline_stage("filter");
  const std::string group = std::to_string(tile[1] * s.ob);
  if (s.ib > 0) {
    t.layout("filter.gemm", {"oc/" + group, "r", "ib", "oc%" + group});
  } else {
    t.layout("filter.gemm", {"oc/" + group, "r", "oc%" + group});
  }
  return t.take();
}

}  // namespace

space::Template conv2d_gemm() {
  return {"conv2d_gemm", fits, knobs, trace, default_values, reject};
}

}  // namespace attune::templates
