// Windows over one channel: depthwise convolution and pooling. A register tile is rows x pixels of
// one channel block; the window is written out, so that neighbouring outputs share the inputs they
// read. Large windows are summed up in parts. What a chain computes before the window
// (chained_product.h) is computed for a few blocks of channels and some rows at a time.
#include <algorithm>

#include "tuner/templates/chained_product.h"
#include "tuner/templates/families.h"
#include "tuner/templates/fused_stages.h"
#include "tuner/templates/program_facts.h"

namespace attune::templates {
namespace {

constexpr std::int64_t kTermsOfPart = 48;
constexpr std::int64_t kWrittenOut = 32;  // taps; larger windows keep their rows as a loop

std::vector<std::string> own_stages(const ir::Program& program) {
  std::vector<std::string> own = stages_of_product(program);
  own.insert(own.end(), {"filter", "pad"});
  return own;
}

bool fits(const ir::Program& program) {
  const ir::Stage* anchor = program.find_stage("anchor");
  const ir::Stage* output = program.find_stage("output");
  return anchor && output && anchor->outputs.size() == 1 &&
         has_axes(*anchor, {"n", "c", "oh", "ow", "cb"}, {"kh", "kw"}) &&
         same_extents(*anchor, *output) &&
         (!has_product_before(program) || product_fits(program)) &&
         FusedStages(program, own_stages(program)).placeable();
}

std::vector<space::Knob> knobs(const ir::Program& program, const target::Target& target) {
  const ir::Stage& a = *program.find_stage("anchor");
  const std::int64_t oh = extent_of(a, "oh"), ow = extent_of(a, "ow");
  const std::int64_t taps = extent_of(a, "kh") * extent_of(a, "kw");
  std::vector<space::Knob> list;
  list.push_back(space::split_list("tile_rows", oh, {1, 2, 3, 4}));
  list.push_back(space::split_even_tails("tile", ow, target.vector_registers / 2));
  list.push_back(space::choice_of("unroll_kh", taps <= kWrittenOut ? std::vector<std::int64_t>{0, 1}
                                                                   : std::vector<std::int64_t>{0}));
  if (has_product_before(program)) {
    for (space::Knob& knob : product_knobs(program, target)) list.push_back(std::move(knob));
  } else {
    // What is split between the threads: 0 channels, 1 rows.
    list.push_back(space::choice_of("outer", {0, 1}));
  }
  return list;
}

space::Settings default_values(const ir::Program& program, const target::Target& target) {
  const ir::Stage& a = *program.find_stage("anchor");
  const std::int64_t ow = extent_of(a, "ow");
  const bool many = target.vector_registers > 16;
  const bool small = ow <= 7;
  space::Settings settings{{"tile_rows", {{small ? 1 : 2}}},
                           {"tile", {{small ? ow : (many ? 7 : 4)}}},
                           {"unroll_kh", {{1}}}};
  if (has_product_before(program)) {
    for (auto& setting : product_defaults(program, target)) settings.push_back(std::move(setting));
  } else {
    const bool few = extent_of(a, "c") * extent_of(a, "n") < target.threads;
    settings.push_back({"outer", {{few ? 1 : 0}}});
  }
  return settings;
}

std::optional<std::string> reject(const ir::Program& program, const target::Target& target,
                                  const space::Values& values) {
  const std::int64_t accumulators = values["tile"] * values["tile_rows"];
  if (accumulators + 3 > target.vector_registers) return "register tile spills";
  const ir::Stage& a = *program.find_stage("anchor");
  const std::int64_t taps = extent_of(a, "kw") * (values["unroll_kh"] ? extent_of(a, "kh") : 1);
  if (taps * accumulators > 320) return "unrolled body too long";
  if (has_product_before(program) && values["tile_rows"] > values["rows"]) return "too few rows";
  return {};
}

// The loops of the output behind a product, which is computed at `outer`; the anchor is computed at
// `tile`.
struct ChainedLoops {
  std::string outer, tile;
};

ChainedLoops place_chained_loops(TraceWriter& t, const ir::Stage& output,
                                 const space::Values& values) {
  const std::string n = output.axes[0].name, c = output.axes[1].name, oh = output.axes[2].name,
                    ow = output.axes[3].name, cb = output.axes[4].name;
  const std::int64_t tile_rows = values["tile_rows"];
  t.split("output", c, {values.numbers("product")[1]});
  t.split("output", oh, {values["rows"]});
  t.split("output", oh + ".1", {tile_rows});
  t.split("output", ow, {values["tile"]});
  t.reorder("output",
            {n, c + ".0", oh + ".0", c + ".1", oh + ".1.0", ow + ".0", oh + ".1.1", ow + ".1", cb});
  const schedule::Names outer{n, c + ".0", oh + ".0"};
  t.fuse("output", outer);
  t.parallel("output", fused_name(outer));
  t.unroll("output", oh + ".1.1");
  t.unroll("output", ow + ".1");
  t.vectorize("output", cb);
  return {fused_name(outer), ow + ".0"};
}

// The loops of the output; the anchor is computed at the one that is returned.
std::string place_outer_loops(TraceWriter& t, const ir::Stage& output,
                              const space::Values& values) {
  const std::string n = output.axes[0].name, c = output.axes[1].name, oh = output.axes[2].name,
                    ow = output.axes[3].name, cb = output.axes[4].name;
  t.split("output", oh, {values["tile_rows"]});
  t.split("output", ow, {values["tile"]});
  t.reorder("output", {n, c, oh + ".0", ow + ".0", oh + ".1", ow + ".1", cb});
  if (values["outer"] == 0) {
    t.fuse("output", {n, c});
    t.parallel("output", fused_name({n, c}));
  } else {
    t.reorder("output", {oh + ".0", n, c});
    t.parallel("output", oh + ".0");
  }
  t.unroll("output", oh + ".1");
  t.unroll("output", ow + ".1");
  t.vectorize("output", cb);
  return ow + ".0";
}

// The loops of one register tile of `stage`, the anchor or a part of it, with those of the window
// around it, some of them written out.
void place_register_tile(TraceWriter& t, const std::string& stage, const schedule::Names& window,
                         const schedule::Names& written_out) {
  schedule::Names order{"n", "c"};
  order.insert(order.end(), window.begin(), window.end());
  order.insert(order.end(), {"oh", "ow", "cb"});
  t.reorder(stage, order);
  for (const std::string& loop : written_out) t.unroll(stage, loop);
  t.unroll(stage, "oh");
  t.unroll(stage, "ow");
  t.vectorize(stage, "cb");
}

schedule::Trace trace(const ir::Program& program, const target::Target& target,
                      const space::Values& values) {
  const ir::Stage& a = *program.find_stage("anchor");
  const bool chained = has_product_before(program);
  const FusedStages fused(program, own_stages(program));
  TraceWriter t;
  fused.place(t, target);
  if (chained) prepare_product(t, program);
  t.inline_if_present(program, "pad");
  const std::int64_t rows = extent_of(a, "kh");
  const std::int64_t part = steps_of_part(a, rows, extent_of(a, "kw"), kTermsOfPart);
  if (part < rows) {
    t.split("anchor", "kh", {part});
    t.rfactor("anchor", "kh.0");
  }
  const ir::Stage& output = *program.find_stage("output");
  const ChainedLoops loops = chained ? place_chained_loops(t, output, values)
                                     : ChainedLoops{"", place_outer_loops(t, output, values)};
  fused.attach(t, target, loops.tile);
  t.compute_at("anchor", "output", loops.tile);
  const std::string summed = part < rows ? "rf.anchor" : "anchor";
  const std::string kh = part < rows ? "kh_1" : "kh";
  if (part < rows) {
    place_register_tile(t, "anchor", {"kh_0"}, {});
    t.compute_at(summed, "anchor", "kh_0");
  }
  t.registers(summed);
  place_register_tile(t, summed, {kh, "kw"},
                      values["unroll_kh"] == 1 ? schedule::Names{kh, "kw"} : schedule::Names{"kw"});
  if (program.find_stage("filter")) {
    const std::string block = std::to_string(extent_of(a, "cb"));
    t.layout("filter", {"c/" + block, "kh", "kw", "c%" + block});
  }
  if (chained) place_product(t, program, values, loops.outer, target.threads > 1);
  return t.take();
}

}  // namespace

space::Template window() { return {"window", fits, knobs, trace, default_values, reject}; }

}  // namespace attune::templates
