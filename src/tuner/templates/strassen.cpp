// Products of matrices by Strassen's seven products: sums of the left-hand quarters are made once;
// then, panel by panel of columns and a few rows at a time, all seven products from register tiles
// of rows x vectors, and right away the quarters of the result from them, so that the products stay
// in the cache. Sums of the weights lie in the order in which they are read and are made ahead of
// time. Threads share the panels, or blocks of rows; those go through all steps by themselves.
#include <algorithm>

#include "tuner/templates/families.h"
#include "tuner/templates/fused_stages.h"
#include "tuner/templates/program_facts.h"
#include "tuner/templates/register_tile.h"

namespace attune::templates {
namespace {

// Of a block that goes through all steps by itself; larger ones only where they are the share of
// one of a few threads.
constexpr std::int64_t kFewestRows = 7, kMostRows = 256;

const std::vector<std::string> kOwn{"filter.sums", "sums", "quarters"};

struct Shape {
  std::int64_t m, n, k;  // of one product
  std::int64_t lanes;    // of the vectors of the result: with a convolution, a block
  std::int64_t vectors() const { return (n + lanes - 1) / lanes; }
};

Shape shape_of(const ir::Program& program, const target::Target& target) {
  const ir::Stage& anchor = *program.find_stage("anchor");
  const ir::Stage& output = *program.find_stage("output");
  return {extent_of(anchor, "i"), extent_of(anchor, "j"), extent_of(anchor, "k"),
          output.axes.size() == 2 ? lanes_of(anchor, target) : output.axes[4].extent};
}

// A matrix of rows and columns, or an image of blocked channels: n, oc, oh, ow, ob.
bool has_quarters(const ir::Stage& output, const ir::Stage& anchor) {
  const auto& axes = output.axes;
  const std::int64_t rows = 2 * extent_of(anchor, "i"), columns = 2 * extent_of(anchor, "j");
  if (axes.size() == 2) return axes[0].extent == rows && axes[1].extent == columns;
  if (axes.size() != 5 || axes[0].extent != 1) return false;
  const std::int64_t pixels = axes[2].extent * axes[3].extent;
  return (pixels == rows || pixels == rows - 1) && axes[1].extent * axes[4].extent == columns;
}

bool fits(const ir::Program& program) {
  const ir::Stage* anchor = program.find_stage("anchor");
  const ir::Stage* output = program.find_stage("output");
  if (!anchor || !output || !has_axes(*anchor, {"p", "i", "j"}, {"k"})) return false;
  for (const std::string& stage : kOwn) {
    if (!program.find_stage(stage)) return false;
  }
  return has_quarters(*output, *anchor) && FusedStages(program, kOwn).placeable();
}

std::vector<space::Knob> knobs(const ir::Program& program, const target::Target& target) {
  const Shape s = shape_of(program, target);
  space::Knob tiles = register_tiles("tile", s.m, s.vectors(), target);
  // Only whole panels: beyond their end lies the next quarter.
  std::erase_if(tiles.choices,
                [&](const space::Choice& tile) { return s.n % (tile.numbers[1] * s.lanes) != 0; });
  // Only blocks that divide: beyond the last row lies the next half.
  std::vector<std::int64_t> blocks{0};  // 0: panels are split between the threads
  for (std::int64_t rows = kFewestRows; rows <= s.m; ++rows) {
    if (s.m % rows == 0 && (rows <= kMostRows || s.m / rows <= 4)) blocks.push_back(rows);
  }
  return {tiles, space::choice_of("unroll", {1, 2, 4}), space::choice_of("block", blocks),
          // Register tiles whose products are added up at once; 0: all of a block.
          space::choice_of("tiles", {1, 2, 4, 0}), space::choice_of("prefetch", {1, 0})};
}

// Rows of a block: as many as one thread's share, and so few that their sums stay in the cache.
std::int64_t best_block(const Shape& s, const target::Target& target) {
  constexpr std::int64_t kProducts = 7;
  const std::int64_t threads = std::max(1, target.threads);
  std::int64_t rows = (s.m + threads - 1) / threads;
  while (rows > kFewestRows && kProducts * rows * s.k * kElementBytes > target.l2_bytes / 2) {
    rows = (rows + 1) / 2;
  }
  return rows;
}

space::Settings default_values(const ir::Program& program, const target::Target& target) {
  const Shape s = shape_of(program, target);
  const std::vector<space::Knob> offered = knobs(program, target);
  const std::int64_t wanted = best_block(s, target);
  // The largest block on offer that is not larger; too few rows for each thread: none.
  std::int64_t block = 0;
  for (const space::Choice& choice : offered[2].choices) {
    if (choice.numbers[0] <= wanted) block = std::max(block, choice.numbers[0]);
  }
  target::Target one = target;
  if (block > 0) one.threads = 1;
  const auto tile =
      streamed_tile(offered[0], {block > 0 ? block : s.m, s.vectors(), s.k * kElementBytes}, one);
  const std::int64_t rows = block > 0 ? block : s.m;
  return {{"tile", tile},
          {"unroll", {{1}}},
          {"block", {{block}}},
          {"tiles", {{rows % tile.numbers[0] == 0 ? 1 : 0}}},
          {"prefetch", {{1}}}};
}

std::optional<std::string> reject(const ir::Program& program, const target::Target& target,
                                  const space::Values& values) {
  const Shape s = shape_of(program, target);
  const std::int64_t rows = values["block"] > 0 ? values["block"] : s.m;
  const std::int64_t together = values["tiles"] * values.numbers("tile")[0];
  if (together > 0 && (together > rows || rows % together != 0)) return "uneven rows of products";
  return {};
}

void add_up(TraceWriter& t, const Shape& s, std::int64_t vectors) {
  const std::string width = std::to_string(vectors * s.lanes);
  t.split("filter.sums", "j", {vectors, s.lanes});
  t.reorder("filter.sums", {"j.0", "p", "k", "j.1", "j.2"});
  t.vectorize("filter.sums", "j.2");
  t.layout("filter.sums", {"j/" + width, "p", "k", "j%" + width});
  t.split("sums", "k", {s.lanes});
  t.reorder("sums", {"i", "k.0", "p", "k.1"});
  t.unroll("sums", "p");
  t.vectorize("sums", "k.1");
}

void multiply(TraceWriter& t, const Shape& s, const space::Values& values) {
  t.split("anchor", "i", {values.numbers("tile")[0]});
  t.split("anchor", "j", {s.lanes});
  t.reorder("anchor", {"p", "i.0", "i.1", "j.0", "j.1"});
  t.compute_at("cache.anchor", "anchor", "i.0");
  t.unroll("anchor", "i.1");
  t.unroll("anchor", "j.0");
  t.vectorize("anchor", "j.1");
  register_tile(t, "cache.anchor", "k", values, s.lanes);
}

// The loops of the output: upper or lower half and row in it, left or right half, panel of columns
// in it, vector and lane.
struct Loops {
  std::string lower, row, right, panel, vector, lane;
};

Loops cut_output(TraceWriter& t, const ir::Stage& output, const Shape& s, std::int64_t vectors) {
  const auto& axes = output.axes;
  std::string i = axes[0].name, j = axes[1].name;
  if (axes.size() == 5) {
    t.fuse("output", {axes[2].name, axes[3].name});
    i = fused_name({axes[2].name, axes[3].name});
    t.split("output", i, {s.m});
    t.split("output", j, {s.n / s.lanes});
    t.split("output", j + ".1", {vectors});
    return {i + ".0", i + ".1", j + ".0", j + ".1.0", j + ".1.1", axes[4].name};
  }
  t.split("output", i, {s.m});
  t.split("output", j, {s.n});
  t.split("output", j + ".1", {vectors, s.lanes});
  return {i + ".0", i + ".1", j + ".0", j + ".1.0", j + ".1.1", j + ".1.2"};
}

schedule::Trace trace(const ir::Program& program, const target::Target& target,
                      const space::Values& values) {
  const Shape s = shape_of(program, target);
  const std::int64_t vectors = values.numbers("tile")[1];
  const FusedStages fused(program, kOwn);
  TraceWriter t;
  fused.place(t, target);
  t.inline_stage("quarters");
  t.cache_write("anchor");
  add_up(t, s, vectors);
  const Loops loops = cut_output(t, *program.find_stage("output"), s, vectors);
  const std::int64_t block = values["block"];
  std::string outer = loops.panel, row = loops.row;
  schedule::Names order{outer};
  if (block > 0) {
    t.split("output", row, {block});
    outer = row + ".0";
    row += ".1";
    order.insert(order.begin(), outer);
  }
  std::string products = loops.panel;
  if (values["tiles"] > 0) {
    t.split("output", row, {values["tiles"] * values.numbers("tile")[0]});
    products = row + ".0";
    row += ".1";
    order.push_back(products);
  }
  order.insert(order.end(), {row, loops.lower, loops.right, loops.vector, loops.lane});
  t.reorder("output", order);
  fused.attach(t, target, row);
  t.compute_at("anchor", "output", products);
  multiply(t, s, values);
  t.parallel("output", outer);
  if (block > 0) {
    t.compute_at("sums", "output", outer);
  } else {
    t.parallel("sums", "i");
  }
  for (const std::string& loop : {loops.lower, loops.right, loops.vector}) t.unroll("output", loop);
  t.vectorize("output", loops.lane);
  return t.take();
}

}  // namespace

space::Template strassen() { return {"strassen", fits, knobs, trace, default_values, reject}; }

}  // namespace attune::templates
