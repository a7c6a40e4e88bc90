// Transposed convolution with a stride: the outputs of each phase (position modulo stride) are a
// convolution of their own, with its own taps. All phases are computed by register tiles of pixels
// of one phase x output-channel blocks; the output picks its elements from them.
#include <algorithm>

#include "tuner/templates/families.h"
#include "tuner/templates/program_facts.h"
#include "tuner/templates/surroundings.h"

namespace attune::templates {
namespace {

const std::vector<std::string> kOwn{"filter", "pad"};

bool fits(const ir::Program& program) {
  const ir::Stage* anchor = program.find_stage("anchor");
  return anchor && program.find_stage("filter") &&
         has_axes(*anchor, {"n", "oc", "ph", "pw", "y", "x", "ob"}, {"ic", "kh", "kw", "ib"}) &&
         Surroundings(program, kOwn).placeable();
}

std::vector<space::Knob> knobs(const ir::Program& program, const ir::Target& target) {
  const ir::Stage& a = *program.find_stage("anchor");
  return {register_tiles("tile", extent_of(a, "x"), extent_of(a, "oc"), target),
          space::choice_of("unroll", {1, 2, 4})};
}

space::Settings default_values(const ir::Program& program, const ir::Target& target) {
  const ir::Stage& a = *program.find_stage("anchor");
  const std::int64_t pixels = extent_of(a, "x"), blocks = extent_of(a, "oc");
  const auto tiles = register_tiles("tile", pixels, blocks, target);
  return {{"tile", best_tile(tiles, pixels, blocks)}, {"unroll", {{1}}}};
}

void multiply(TraceWriter& t, std::int64_t lanes, const space::Values& values) {
  const auto tile = values.numbers("tile");
  t.registers("cache.anchor");
  schedule::Names order{"n", "ph", "pw", "y", "ic", "kh", "kw"};
  const std::int64_t unrolled = std::min(values["unroll"], lanes);
  if (unrolled < lanes) {
    t.split("cache.anchor", "ib", {unrolled});
    order.insert(order.end(), {"ib.0", "ib.1"});
    t.unroll("cache.anchor", "ib.1");
  } else {
    order.push_back("ib");
    t.unroll("cache.anchor", "ib");
  }
  // The smaller operand is loaded first and held, the other streams.
  if (tile[1] <= tile[0]) {
    order.insert(order.end(), {"x", "oc", "ob"});
  } else {
    order.insert(order.end(), {"oc", "x", "ob"});
  }
  t.reorder("cache.anchor", order);
  t.unroll("cache.anchor", "x");
  t.unroll("cache.anchor", "oc");
  t.vectorize("cache.anchor", "ob");
}

schedule::Trace trace(const ir::Program& program, const ir::Target& target,
                      const space::Values& values) {
  const ir::Stage& a = *program.find_stage("anchor");
  const auto tile = values.numbers("tile");
  const Surroundings surroundings(program, kOwn);
  TraceWriter t;
  surroundings.place(t, target);
  t.inline_if_present(program, "pad");
  t.cache_write("anchor");
  t.split("anchor", "oc", {tile[1]});
  t.split("anchor", "x", {tile[0]});
  t.reorder("anchor", {"n", "oc.0", "ph", "pw", "y", "x.0", "x.1", "oc.1", "ob"});
  t.compute_at("cache.anchor", "anchor", "x.0");
  multiply(t, extent_of(a, "ib"), values);
  t.fuse("anchor", {"n", "oc.0", "ph", "pw"});
  t.parallel("anchor", "n*oc.0*ph*pw");
  t.unroll("anchor", "x.1");
  t.unroll("anchor", "oc.1");
  t.vectorize("anchor", "ob");
  const ir::Stage& output = *program.find_stage("output");
  run_in_vectors(t, output, target, 4, Tail::LastAxis);
  const std::string group = std::to_string(tile[1] * extent_of(a, "ob"));
  const std::string block = std::to_string(extent_of(a, "ib"));
  t.layout("filter", {"oc/" + group, "ic/" + block, "kh", "kw", "ic%" + block, "oc%" + group});
  return t.take();
}

}  // namespace

space::Template conv2d_transpose() {
  return {"conv2d_transpose", fits, knobs, trace, default_values, nullptr};
}

}  // namespace attune::templates
