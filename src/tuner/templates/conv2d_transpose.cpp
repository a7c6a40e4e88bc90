// Transposed convolution with a stride: the outputs of each phase (position modulo stride) are a
// convolution of their own, with its own taps. All phases are computed by register tiles of pixels
// of one phase (in several rows on small images) x output-channel blocks; the output picks its
// elements from them.
#include <algorithm>

#include "tuner/templates/families.h"
#include "tuner/templates/fused_stages.h"
#include "tuner/templates/program_facts.h"

namespace attune::templates {
namespace {

// Multiply-adds written out in all loop bodies: more only costs compile time.
constexpr std::int64_t kLongestBody = 320;

const std::vector<std::string> kOwn{"filter", "pad"};

// What is split between the threads and runs outermost.
enum Outer : std::int64_t { kRows, kChannels, kChannelsAndPhases };
// Where elements beyond the image come from.
enum Border : std::int64_t { kGuarded, kCopied };

struct Shape {
  std::int64_t n, oc, ph, pw, y, x, ob, ib;
};

Shape shape_of(const ir::Program& program) {
  const ir::Stage& a = *program.find_stage("anchor");
  return {extent_of(a, "n"), extent_of(a, "oc"), extent_of(a, "ph"), extent_of(a, "pw"),
          extent_of(a, "y"), extent_of(a, "x"),  extent_of(a, "ob"), extent_of(a, "ib")};
}

bool fits(const ir::Program& program) {
  const ir::Stage* anchor = program.find_stage("anchor");
  return anchor && program.find_stage("filter") &&
         has_axes(*anchor, {"n", "oc", "ph", "pw", "y", "x", "ob"}, {"ic", "kh", "kw", "ib"}) &&
         FusedStages(program, kOwn).placeable();
}

// Rows of a register tile on small images, where one row has too few pixels to keep the arithmetic
// units busy with few channel blocks.
std::vector<std::int64_t> tile_rows_of(const Shape& s) {
  std::vector<std::int64_t> rows{1};
  for (const std::int64_t several : {2, 4}) {
    if (several <= s.y && s.x * several <= 28) rows.push_back(several);
  }
  return rows;
}

std::vector<space::Knob> knobs(const ir::Program& program, const target::Target& target) {
  const Shape s = shape_of(program);
  space::Knob tiles = register_tiles("tile", s.x, s.oc, target);
  // With several rows fewer channel blocks are enough.
  for (std::int64_t blocks = 1; blocks <= std::min<std::int64_t>(s.oc, 3); ++blocks) {
    const space::Choice whole{{s.x, blocks}};
    const bool known = std::any_of(tiles.choices.begin(), tiles.choices.end(),
                                   [&](const auto& tile) { return tile.numbers == whole.numbers; });
    if (!known && tile_rows_of(s).size() > 1) tiles.choices.push_back(whole);
  }
  return {tiles, space::choice_of("tile_rows", tile_rows_of(s)),
          // Rows that are finished for one group of channels before the next group's turn.
          space::split_list("rows", s.y, {1, 2, 4, 8, s.y}),
          space::choice_of("outer", {kRows, kChannels, kChannelsAndPhases}),
          space::choice_of("border", program.find_stage("pad")
                                         ? std::vector<std::int64_t>{kGuarded, kCopied}
                                         : std::vector<std::int64_t>{kGuarded}),
          space::choice_of("unroll", {1, 2, 4})};
}

// The widest register tile with all pixels of a thread's share of the rows, if there is one.
std::optional<space::Choice> whole_share(const Shape& s, const target::Target& target) {
  const std::int64_t threads = std::max(1, target.threads);
  const auto rows = tile_rows_of(s);
  if (s.y % threads != 0 || std::find(rows.begin(), rows.end(), s.y / threads) == rows.end()) {
    return {};
  }
  const std::int64_t pixels = s.y / threads * s.x;
  for (std::int64_t blocks = 3; blocks >= 1; --blocks) {
    const std::int64_t needed = pixels * blocks + std::min(pixels, blocks) + 1;
    if (s.oc % blocks == 0 && needed <= target.vector_registers)
      return space::Choice{{s.x, blocks}};
  }
  return {};
}

space::Settings default_values(const ir::Program& program, const target::Target& target) {
  const Shape s = shape_of(program);
  const auto tiles = register_tiles("tile", s.x, s.oc, target);
  space::Choice tile = best_tile(tiles, s.x, s.oc);
  // Channels first, if their groups give the threads equal shares: small images have large weights.
  space::Knob even = tiles;
  std::erase_if(even.choices, [&](const space::Choice& choice) {
    return s.oc % (choice.numbers[1] * std::max(1, target.threads)) != 0;
  });
  if (!even.choices.empty()) tile = best_tile(even, s.x, s.oc);
  const std::int64_t rows = std::clamp<std::int64_t>(s.y / std::max(1, target.threads), 1, 4);
  // On an image of one register tile for each thread all weights are read once.
  if (const auto whole = whole_share(s, target)) {
    const std::int64_t share = s.y / std::max(1, target.threads);
    return {{"tile", *whole},     {"tile_rows", {{share}}}, {"rows", {{share}}},
            {"outer", {{kRows}}}, {"border", {{kGuarded}}}, {"unroll", {{1}}}};
  }
  return {{"tile", tile},
          {"tile_rows", {{1}}},
          {"rows", {{even.choices.empty() ? rows : s.y}}},
          {"outer", {{even.choices.empty() ? kRows : kChannels}}},
          {"border", {{kGuarded}}},
          {"unroll", {{1}}}};
}

// Guards of phases that are written out are those of one phase.
bool writes_phases_out(const space::Values& values) {
  return values["border"] == kGuarded && values["outer"] != kChannelsAndPhases;
}

std::optional<std::string> reject(const ir::Program& program, const target::Target& target,
                                  const space::Values& values) {
  const Shape s = shape_of(program);
  const auto tile = values.numbers("tile");
  const std::int64_t pixels = tile[0] * values["tile_rows"];
  if (pixels * tile[1] + std::min(pixels, tile[1]) + 1 > target.vector_registers) {
    return "register tile spills";
  }
  if (2 * pixels * tile[1] < std::min<std::int64_t>(target.vector_registers, s.x * s.oc)) {
    return "register tile too small";
  }
  const std::int64_t copies = writes_phases_out(values) ? s.ph * s.pw : 1;
  if (copies * values["unroll"] * pixels * tile[1] > kLongestBody) return "unrolled body too long";
  return {};
}

void multiply(TraceWriter& t, const Shape& s, const space::Values& values) {
  const auto tile = values.numbers("tile");
  t.registers("cache.anchor");
  schedule::Names order{"n", "ph", "pw", "ic", "kh", "kw"};
  const std::int64_t unrolled = std::min(values["unroll"], s.ib);
  if (unrolled < s.ib) {
    t.split("cache.anchor", "ib", {unrolled});
    order.insert(order.end(), {"ib.0", "ib.1"});
    t.unroll("cache.anchor", "ib.1");
  } else {
    order.push_back("ib");
    t.unroll("cache.anchor", "ib");
  }
  // The smaller operand is loaded first and held, the other streams.
  if (tile[1] <= tile[0] * values["tile_rows"]) {
    order.insert(order.end(), {"y", "x", "oc", "ob"});
  } else {
    order.insert(order.end(), {"oc", "y", "x", "ob"});
  }
  t.reorder("cache.anchor", order);
  for (const char* loop : {"y", "x", "oc"}) t.unroll("cache.anchor", loop);
  t.vectorize("cache.anchor", "ob");
}

// The loops over register tiles.
void place_outer_loops(TraceWriter& t, const space::Values& values) {
  const auto tile = values.numbers("tile");
  const std::int64_t tile_rows = values["tile_rows"];
  const std::int64_t row_tiles = std::max<std::int64_t>(1, values["rows"] / tile_rows);
  t.split("anchor", "oc", {tile[1]});
  t.split("anchor", "y", {row_tiles, tile_rows});
  t.split("anchor", "x", {tile[0]});
  schedule::Names outer{"n", "oc.0"};
  schedule::Names order{"n", "oc.0", "ph", "pw", "y.0"};
  if (values["outer"] == kRows) {
    outer = {"n", "y.0"};
    order = {"n", "y.0", "oc.0", "ph", "pw"};
  } else if (values["outer"] == kChannelsAndPhases) {
    outer = {"n", "oc.0", "ph", "pw"};
  }
  order.insert(order.end(), {"y.1", "x.0", "y.2", "x.1", "oc.1", "ob"});
  t.reorder("anchor", order);
  t.compute_at("cache.anchor", "anchor", "x.0");
  t.fuse("anchor", outer);
  t.parallel("anchor", fused_name(outer));
  if (writes_phases_out(values)) {
    t.unroll("anchor", "ph");
    t.unroll("anchor", "pw");
  }
  for (const char* loop : {"y.2", "x.1", "oc.1"}) t.unroll("anchor", loop);
  t.vectorize("anchor", "ob");
}

schedule::Trace trace(const ir::Program& program, const target::Target& target,
                      const space::Values& values) {
  const Shape s = shape_of(program);
  const FusedStages fused(program, kOwn);
  TraceWriter t;
  fused.place(t, target);
  if (values["border"] == kGuarded) {
    t.inline_if_present(program, "pad");
  } else {
    run_in_vectors(t, *program.find_stage("pad"), target, 1, Tail::LastAxis);
  }
  t.cache_write("anchor");
  place_outer_loops(t, values);
  multiply(t, s, values);
  run_in_vectors(t, *program.find_stage("output"), target, 4, Tail::LastAxis);
  const std::string group = std::to_string(values.numbers("tile")[1] * s.ob);
  const std::string block = std::to_string(s.ib);
  t.layout("filter",
           {"oc/" + group, "ph", "pw", "ic/" + block, "kh", "kw", "ic%" + block, "oc%" + group});
  return t.take();
}

}  // namespace

space::Template conv2d_transpose() {
  return {"conv2d_transpose", fits, knobs, trace, default_values, reject};
}

}  // namespace attune::templates
