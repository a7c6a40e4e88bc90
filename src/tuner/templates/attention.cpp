// Attention (graph/tasks/attention.h): two products with the softmax of rows between them, for a
// block of queries at a time. Queries lie along vectors: scores of a block are stored key by key,
// so that maxima, sums and exponentials of rows need no work across lanes, keys are read where they
// lie, and the second product finds the weights of a tile's queries next to each other. The second
// product runs over blocks of keys, whose values stay in the smallest cache while all tiles of the
// block use them.
#include <algorithm>

#include "tuner/templates/attention_facts.h"
#include "tuner/templates/families.h"
#include "tuner/templates/program_facts.h"
#include "tuner/templates/register_tile.h"

namespace attune::templates {
namespace {

constexpr std::int64_t kMostVectors = 4;  // of queries in a block
constexpr double kEven = 1.05;            // that some threads may have more to do than others

struct Shape {
  std::int64_t batch, queries, keys, columns, terms;  // keys of a part; terms of a score
  std::int64_t lanes, element_bytes;
  std::int64_t vectors() const { return (columns + lanes - 1) / lanes; }
  std::int64_t query_vectors() const { return (queries + lanes - 1) / lanes; }
};

Shape shape_of(const ir::Program& program, const target::Target& target) {
  const ir::Stage& first = *program.find_stage(kFirst);
  const ir::Stage& second = *program.find_stage("anchor");
  return {.batch = std::max<std::int64_t>(1, extent_of(first, "b")),
          .queries = extent_of(first, "i"),
          .keys = extent_of(second, "k"),
          .columns = extent_of(second, "j"),
          .terms = extent_of(first, "k"),
          .lanes = lanes_of(first, target),
          .element_bytes = first.outputs[0]->type.element_bytes()};
}

// Bytes of scores and their exponentials, for a block of so many vectors of queries.
std::int64_t block_bytes(const Shape& s, std::int64_t vectors) {
  return 2 * vectors * s.lanes * s.keys * s.element_bytes;
}

std::vector<space::Knob> knobs(const ir::Program& program, const target::Target& target) {
  const Shape s = shape_of(program, target);
  std::vector<std::int64_t> blocks;
  for (std::int64_t v = 1; v <= std::min(kMostVectors, s.query_vectors()); ++v) {
    blocks.push_back(v);
  }
  std::vector<std::int64_t> cuts;
  for (const std::int64_t kc : {32, 48, 64, 96, 128, 192, 256, 384, 512, 1024}) {
    if (kc < s.keys) cuts.push_back(kc);
  }
  cuts.push_back(s.keys);
  return {space::choice_of("queries", blocks),
          block_sizes("keys", s.keys, target.vector_registers - 2, {}),
          unroll_steps("steps", s.terms),
          all_register_tiles("tile", blocks.back() * s.lanes, s.vectors(), target),
          space::choice_of("kc", cuts),
          unroll_steps("unroll", s.keys),
          space::choice_of("inner", {0, 1}),
          space::choice_of("held", {0, 1}),
          space::choice_of("prefetch", {0})};
}

// Time wasted by blocks that are not full and threads that have less to do.
double waste_of(const Shape& s, std::int64_t vectors, const target::Target& target) {
  const std::int64_t blocks = (s.query_vectors() + vectors - 1) / vectors;
  const double covered = static_cast<double>(blocks * vectors * s.lanes);
  return imbalance(s.batch * blocks, target) * covered / static_cast<double>(s.queries);
}

// As many queries as the cache has room for: keys and values are read once for each block.
std::int64_t default_queries(const Shape& s, const target::Target& target) {
  std::int64_t best = 1;
  for (std::int64_t v = 2; v <= std::min(kMostVectors, s.query_vectors()); ++v) {
    if (block_bytes(s, v) > target.l2_bytes / 2) break;
    if (waste_of(s, v, target) <= waste_of(s, best, target) + 0.02) best = v;
  }
  return best;
}

space::Settings default_values(const ir::Program& program, const target::Target& target) {
  const Shape s = shape_of(program, target);
  const std::int64_t vectors = default_queries(s, target);
  space::Knob first = register_tiles("keys", s.keys, vectors, target);
  if (std::any_of(first.choices.begin(), first.choices.end(),
                  [&](const space::Choice& tile) { return tile.numbers[1] == vectors; })) {
    std::erase_if(first.choices,
                  [&](const space::Choice& tile) { return tile.numbers[1] != vectors; });
  }
  const std::int64_t queries = std::min(s.queries, vectors * s.lanes);
  const space::Knob second = register_tiles("tile", queries, s.vectors(), target);
  const std::int64_t row_bytes = s.columns * s.element_bytes;
  return {{"queries", {{vectors}}},
          {"keys", {{best_tile(first, s.keys, vectors).numbers[0]}}},
          {"steps", {{1}}},
          {"tile", best_tile(second, queries, s.vectors())},
          {"kc", {{std::max<std::int64_t>(32, target.l1_bytes / 2 / row_bytes)}}},
          {"unroll", {{1}}},
          {"inner", {{0}}},
          {"held", {{0}}},
          {"prefetch", {{0}}}};
}

std::optional<std::string> reject(const ir::Program& program, const target::Target& target,
                                  const space::Values& values) {
  const Shape s = shape_of(program, target);
  const std::int64_t vectors = values["queries"];
  if (auto flaw = tile_flaw(values["keys"], vectors, {s.keys, vectors}, target)) return flaw;
  const auto tile = values.numbers("tile");
  const std::int64_t queries = std::min(s.queries, vectors * s.lanes);
  if (tile[0] > queries) return "a tile of more queries than the block has";
  return tile_flaw(tile[0], tile[1], {queries, s.vectors()}, target);
}

// Steps that all stages of a block share.
struct Block {
  TraceWriter& t;
  std::int64_t lanes;
  // Where scores, weights and products are computed: a loop over blocks of queries, or over parts
  // of their rows.
  std::string stage, loop;
};

schedule::Names names_of(const ir::Stage& stage) {
  schedule::Names names;
  for (const ir::Axis& axis : stage.axes) names.push_back(axis.name);
  return names;
}

// The axis of queries is the first, or the second behind one over matrices.
std::string query_axis(const ir::Program& program, const ir::Stage& stage) {
  return stage.axes[program.find_stage("output")->axes.size() - 2].name;
}

// The names with `last` behind all others.
schedule::Names with_last(schedule::Names names, const std::string& last) {
  std::erase(names, last);
  names.push_back(last);
  return names;
}

// The queries of a block, turned so that those of one vector lie next to each other.
void place_queries(const Block& b, const Queries& queries) {
  std::string copy = queries.tensor;
  schedule::Names axes;
  if (queries.stage != nullptr) {
    axes = names_of(*queries.stage);
  } else {
    b.t.cache_read(queries.tensor, kFirst);
    copy = "cache." + queries.tensor;
    for (std::size_t d = 0; d < queries.rank; ++d) axes.push_back("i" + std::to_string(d));
  }
  const std::string i = axes[static_cast<std::size_t>(queries.i)];
  const std::string k = axes[static_cast<std::size_t>(queries.k)];
  b.t.compute_at(copy, b.stage, b.loop);
  schedule::Names order = with_last(with_last(axes, k), i);
  b.t.layout(copy, order);
  b.t.split(copy, i, {b.lanes});
  order.pop_back();
  order.insert(order.end() - 1, i + ".0");
  order.push_back(i + ".1");
  b.t.reorder(copy, order);
  b.t.vectorize(copy, i + ".1");
}

// Queries along vectors, which are written out; they also lie so.
void run_along_queries(const Block& b, const ir::Program& program, const ir::Stage& stage) {
  const std::string i = query_axis(program, stage);
  schedule::Names order = with_last(names_of(stage), i);
  b.t.compute_at(stage.name, b.stage, b.loop);
  b.t.layout(stage.name, order);
  b.t.split(stage.name, i, {b.lanes});
  order.pop_back();
  order.insert(order.end(), {i + ".0", i + ".1"});
  b.t.reorder(stage.name, order);
  b.t.unroll(stage.name, i + ".0");
  b.t.vectorize(stage.name, i + ".1");
}

// The scores of a block, a tile of some keys and all its queries at a time.
void place_scores(const Block& b, const ir::Program& program, const space::Values& values) {
  const ir::Stage& scores = *program.find_stage(kScores);
  const std::string j = scores.axes.back().name;
  run_along_queries(b, program, scores);
  b.t.split(kScores, j, {values["keys"]});
  b.t.unroll(kScores, j + ".1");

  b.t.compute_at(kFirst, kScores, j + ".0");
  b.t.registers(kFirst);
  b.t.layout(kFirst, with_last(names_of(*program.find_stage(kFirst)), "i"));
  b.t.split(kFirst, "i", {b.lanes});
  schedule::Names inner{"k"};
  if (values["steps"] > 1) {
    b.t.split(kFirst, "k", {values["steps"]});
    inner = {"k.0", "k.1"};
  }
  inner.insert(inner.end(), {"j", "i.0", "i.1"});
  b.t.reorder(kFirst, inner);
  if (values["steps"] > 1) b.t.unroll(kFirst, "k.1");
  b.t.unroll(kFirst, "j");
  b.t.unroll(kFirst, "i.0");
  b.t.vectorize(kFirst, "i.1");
}

// The maximum or sum of each row, kept in registers while all keys pass by.
void place_reduction(const Block& b, const ir::Program& program, const ir::Stage& stage) {
  const std::string cache = "cache." + stage.name, i = query_axis(program, stage);
  b.t.cache_write(stage.name);
  for (const std::string& name : {stage.name, cache}) {
    b.t.compute_at(name, b.stage, b.loop);
    b.t.split(name, i, {b.lanes});
    schedule::Names order = with_last(names_of(stage), i);
    order.pop_back();
    if (name == cache) order.push_back(stage.reduce_axes[0].name);
    order.insert(order.end(), {i + ".0", i + ".1"});
    b.t.reorder(name, order);
    b.t.unroll(name, i + ".0");
    b.t.vectorize(name, i + ".1");
  }
  b.t.registers(cache);
}

// The second product: block of keys by block of keys, tile by tile.
void place_product(const Block& b, const space::Values& values) {
  const auto tile = values.numbers("tile");
  b.t.compute_at("anchor", b.stage, b.loop);
  b.t.split("anchor", "i", {tile[0]});
  b.t.split("anchor", "j", {tile[1], b.lanes});
  const std::string tile_loop = values["inner"] == 0 ? "i.0" : "j.0";
  b.t.reorder("anchor",
              {"k_0", tile_loop == "i.0" ? "j.0" : "i.0", tile_loop, "i.1", "j.1", "j.2"});
  b.t.annotate("anchor", "*", "init", "select");
  b.t.compute_at("rf.anchor", "anchor", tile_loop);
  b.t.unroll("anchor", "i.1");
  b.t.unroll("anchor", "j.1");
  b.t.vectorize("anchor", "j.2");
  register_tile(b.t, "rf.anchor", "k_1", values, b.lanes);
}

// Masks are read across their rows. Constants are laid out for that ahead of time; of others, the
// part that belongs to a block is copied to where rows do not take each other's lines.
void place_masks(const Block& b, const std::vector<Mask>& masks, std::int64_t queries) {
  constexpr std::int64_t kLine = 64;  // elements; rows are longer by one vector
  for (const Mask& mask : masks) {
    const std::string copy = "cache." + mask.tensor;
    schedule::Names axes;
    for (std::size_t d = 0; d < mask.rank; ++d) axes.push_back("i" + std::to_string(d));
    const std::string i = axes[mask.i], j = axes[mask.j];
    b.t.cache_read(mask.tensor, kScores);
    if (mask.constant) {
      const std::string block = std::to_string(queries);
      std::erase(axes, i);
      std::erase(axes, j);
      axes.insert(axes.end(), {i + "/" + block, j, i + "%" + block});
      b.t.layout(copy, axes);
      continue;
    }
    b.t.compute_at(copy, b.stage, b.loop);
    b.t.layout(copy, with_last(with_last(axes, i), j));
    b.t.storage_align(copy, kLine, b.lanes);
    b.t.split(copy, j, {b.lanes});
    b.t.vectorize(copy, j + ".1");
  }
}

// Keys that no query of the block sees are left out.
void skip_unseen(const Block& b) {
  for (const std::string& stage :
       {std::string("rf.anchor"), "cache." + kSum, kExp, "cache." + kMax, kScores}) {
    b.t.annotate(stage, "*", "skip", "masked");
  }
}

// What the parts of rows are put together by: little beside the products.
void place_total(const Block& b, const ir::Program& program) {
  const auto along_columns = [&](const ir::Stage& stage) {
    const std::string column = stage.axes.back().name;
    b.t.compute_at(stage.name, b.stage, b.loop);
    b.t.split(stage.name, column, {b.lanes});
    schedule::Names order = names_of(stage);
    order.pop_back();
    if (reduces(stage)) order.push_back(stage.reduce_axes[0].name);
    order.insert(order.end(), {column + ".0", column + ".1"});
    b.t.reorder(stage.name, order);
    b.t.vectorize(stage.name, column + ".1");
  };
  along_columns(*program.find_stage("mixed"));
  for (const char* name : {"total.sum", "total.exp", "total.max"}) {
    b.t.compute_at(name, b.stage, b.loop);
  }
  const ir::Stage& parts = *program.find_stage(kParts);
  along_columns(parts);
  const std::string c = parts.axes[parts.axes.size() - 2].name, i = query_axis(program, parts);
  b.t.reorder(kParts, {c, i});
}

// The loop over blocks of queries, of all matrices, that threads share. Neighbouring blocks go to
// one thread, unless some see fewer keys than others and matrices do not divide among the threads:
// then they are dealt out one by one.
std::string block_loop(TraceWriter& t, const ir::Program& program, const Shape& s,
                       const target::Target& target, std::int64_t queries) {
  const schedule::Names axes = names_of(*program.find_stage("output"));
  const std::string i = axes[axes.size() - 2];
  const bool batched = axes.size() == 3;
  const std::int64_t blocks = (s.queries + queries - 1) / queries;
  const bool dealt = sees_by_place(program) && target.threads > 1 && blocks >= 2 * target.threads &&
                     imbalance(s.batch, target) > kEven;
  schedule::Names loops{i + ".0"};
  if (dealt) {
    t.split("output", i, {target.threads, queries});
    loops = {i + ".1", i + ".0"};
    if (batched) loops.insert(loops.begin() + 1, axes[0]);
    t.reorder("output", loops);
  } else {
    t.split("output", i, {queries});
    if (batched) loops.insert(loops.begin(), axes[0]);
  }
  if (loops.size() == 1) return loops[0];
  t.fuse("output", loops);
  return fused_name(loops);
}

schedule::Trace trace(const ir::Program& program, const target::Target& target,
                      const space::Values& values) {
  TraceWriter t;
  const Shape s = shape_of(program, target);
  const Queries queries = *queries_of(program);
  const FusedStages fused = fused_around_attention(program);
  fused.place(t, target);
  for (const ir::Stage* stage : inlined_stages(program, queries)) t.inline_stage(stage->name);
  t.split("anchor", "k", {values["kc"]});
  t.rfactor("anchor", "k.0");

  const std::string j = program.find_stage("output")->axes.back().name;
  const std::string loop = block_loop(t, program, s, target, values["queries"] * s.lanes);
  t.split("output", j, {s.lanes});
  const Block whole{t, s.lanes, "output", loop};
  fused.attach(t, target, whole.loop);
  Block inner = whole;
  if (const ir::Stage* parts = program.find_stage(kParts)) {
    place_total(whole, program);
    inner.stage = kParts;
    inner.loop = parts->axes[parts->axes.size() - 2].name;
  }
  place_product(inner, values);
  place_reduction(inner, program, *program.find_stage(kSum));
  run_along_queries(inner, program, *program.find_stage(kExp));
  place_reduction(inner, program, *program.find_stage(kMax));
  place_scores(inner, program, values);
  if (sees_by_place(program)) skip_unseen(inner);
  place_masks(inner, masks_of(program, queries), values["queries"] * s.lanes);
  place_queries(whole, queries);
  t.parallel("output", whole.loop);
  t.vectorize("output", j + ".1");
  return t.take();
}

}  // namespace

space::Template attention() {
  return {"attention", is_attention, knobs, trace, default_values, reject};
}

}  // namespace attune::templates
