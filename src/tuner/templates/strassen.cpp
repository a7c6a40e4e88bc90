// Products of matrices by Strassen's seven products: sums of the left-hand quarters are made once;
// then, panel by panel of columns, all seven products from register tiles of rows x vectors, and
// right away the quarters of the result from them, so that the products stay in the cache. Sums of
// the weights lie in the order in which they are read and are made ahead of time. Threads share the
// panels, or blocks of rows; those go through all steps by themselves.
#include <algorithm>

#include "tuner/templates/families.h"
#include "tuner/templates/program_facts.h"
#include "tuner/templates/register_tile.h"
#include "tuner/templates/surroundings.h"

namespace attune::templates {
namespace {

const std::vector<std::string> kOwn{"filter.sums", "sums", "quarters"};

struct Shape {
  std::int64_t m, n, k, lanes;  // of one product
  std::int64_t vectors() const { return (n + lanes - 1) / lanes; }
};

Shape shape_of(const ir::Program& program, const ir::Target& target) {
  const ir::Stage& anchor = *program.find_stage("anchor");
  return {extent_of(anchor, "i"), extent_of(anchor, "j"), extent_of(anchor, "k"),
          lanes_of(anchor, target)};
}

bool fits(const ir::Program& program) {
  const ir::Stage* anchor = program.find_stage("anchor");
  const ir::Stage* output = program.find_stage("output");
  if (!anchor || !output || !has_axes(*anchor, {"p", "i", "j"}, {"k"})) return false;
  for (const std::string& stage : kOwn) {
    if (!program.find_stage(stage)) return false;
  }
  return output->axes.size() == 2 && output->axes[0].extent == 2 * extent_of(*anchor, "i") &&
         output->axes[1].extent == 2 * extent_of(*anchor, "j") &&
         Surroundings(program, kOwn).placeable();
}

std::vector<space::Knob> knobs(const ir::Program& program, const ir::Target& target) {
  const Shape s = shape_of(program, target);
  space::Knob tiles = register_tiles("tile", s.m, s.vectors(), target);
  // Only whole panels: beyond their end lies the next quarter.
  std::erase_if(tiles.choices,
                [&](const space::Choice& tile) { return s.n % (tile.numbers[1] * s.lanes) != 0; });
  std::vector<std::int64_t> blocks{0};  // 0: panels are split between the threads
  for (const std::int64_t rows : {8, 12, 16, 24, 32, 48, 64, 128, 256}) {
    if (rows <= s.m) blocks.push_back(rows);
  }
  if (blocks.back() != s.m) blocks.push_back(s.m);
  return {tiles, space::choice_of("unroll", {1, 2, 4}), space::choice_of("block", blocks),
          space::choice_of("prefetch", {1, 0})};
}

// Rows of a block: as many as one thread's share, and so few that their sums stay in the cache.
std::int64_t best_block(const Shape& s, const ir::Target& target) {
  constexpr std::int64_t kFewest = 16, kProducts = 7;
  const std::int64_t threads = std::max(1, target.threads);
  std::int64_t rows = (s.m + threads - 1) / threads;
  while (rows > kFewest && kProducts * rows * s.k * kElementBytes > target.l2_bytes / 2) {
    rows = (rows + 1) / 2;
  }
  return rows;
}

space::Settings default_values(const ir::Program& program, const ir::Target& target) {
  const Shape s = shape_of(program, target);
  const std::vector<space::Knob> offered = knobs(program, target);
  const std::int64_t wanted = best_block(s, target);
  // The largest block on offer that is not larger; too few rows for each thread: none.
  std::int64_t block = 0;
  for (const space::Choice& choice : offered[2].choices) {
    if (choice.numbers[0] <= wanted) block = std::max(block, choice.numbers[0]);
  }
  ir::Target one = target;
  if (block > 0) one.threads = 1;
  const auto tile =
      streamed_tile(offered[0], {block > 0 ? block : s.m, s.vectors(), s.k * kElementBytes}, one);
  return {{"tile", tile}, {"unroll", {{1}}}, {"block", {{block}}}, {"prefetch", {{1}}}};
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

schedule::Trace trace(const ir::Program& program, const ir::Target& target,
                      const space::Values& values) {
  const Shape s = shape_of(program, target);
  const ir::Stage& output = *program.find_stage("output");
  const std::string i = output.axes[0].name, j = output.axes[1].name, column = j + ".1";
  const std::int64_t vectors = values.numbers("tile")[1];
  const Surroundings surroundings(program, kOwn);
  TraceWriter t;
  surroundings.place(t, target);
  t.inline_stage("quarters");
  t.cache_write("anchor");
  add_up(t, s, vectors);
  t.split("output", i, {s.m});
  t.split("output", j, {s.n});
  t.split("output", column, {vectors, s.lanes});
  const std::int64_t block = values["block"];
  std::string outer = column + ".0", row = i + ".1";
  schedule::Names order{outer};
  if (block > 0) {
    t.split("output", row, {block});
    outer = row + ".0";
    row += ".1";
    order.insert(order.begin(), outer);
  }
  order.insert(order.end(), {row, i + ".0", j + ".0", column + ".1", column + ".2"});
  t.reorder("output", order);
  surroundings.attach(t, target, row);
  t.compute_at("anchor", "output", column + ".0");
  multiply(t, s, values);
  t.parallel("output", outer);
  if (block > 0) {
    t.compute_at("sums", "output", outer);
  } else {
    t.parallel("sums", "i");
  }
  for (const std::string& loop : {i + ".0", j + ".0", column + ".1"}) t.unroll("output", loop);
  t.vectorize("output", column + ".2");
  return t.take();
}

}  // namespace

space::Template strassen() { return {"strassen", fits, knobs, trace, default_values, nullptr}; }

}  // namespace attune::templates
