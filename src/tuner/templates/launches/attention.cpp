// Attention as one launch (graph/tasks/attention.h; Dao et al., "FlashAttention", 2022). A block
// has some queries of a matrix: their scores, exponentials and the sums of these stay in shared
// memory, whole rows at a time, and the matrix of all scores never exists. Lanes of a row of
// threads share a query's keys, reduce its row together and then share the columns of its result.
// Keys are fetched together, a few terms of them at a time.
#include <algorithm>
#include <optional>
#include <set>

#include "tuner/templates/attention_facts.h"
#include "tuner/templates/dataflow.h"
#include "tuner/templates/inlining.h"
#include "tuner/templates/launches/launches.h"
#include "tuner/templates/launches/product_facts.h"
#include "tuner/templates/launches/whole_program.h"
#include "tuner/templates/program_facts.h"

namespace attune::templates {
namespace {

constexpr double kWastedWork = 400;
constexpr std::int64_t kVector = 4, kBanks = 32, kMostUnrolled = 64, kElement = 4;

struct Shape {
  std::int64_t batch = 1, queries = 1, keys = 1, terms = 1, columns = 1;
};

Shape shape_of(const ir::Program& program) {
  const ir::Stage& first = *program.find_stage(kFirst);
  return {.batch = std::max<std::int64_t>(1, extent_of(first, "b")),
          .queries = extent_of(first, "i"),
          .keys = extent_of(first, "j"),
          .terms = extent_of(first, "k"),
          .columns = extent_of(*program.find_stage("anchor"), "j")};
}

bool fits(const ir::Program& program) {
  return is_attention(program) && program.find_stage(kParts) == nullptr;
}

// How a block is cut.
struct Tiles {
  std::int64_t rows = 8, each = 1;  // of threads; queries that a thread has
  std::int64_t lanes = 16;
  std::int64_t keys = 4;    // neighbouring ones that a thread multiplies at once
  std::int64_t terms = 32;  // that are fetched together; 0: keys are read where they lie
  std::int64_t steps = 8;   // keys of the second product whose reads are under way together

  std::int64_t queries() const { return rows * each; }
};

Tiles tiles_of(const space::Values& values) {
  return {.rows = values.numbers("queries")[0],
          .each = values.numbers("queries")[1],
          .lanes = values["lanes"],
          .keys = values["keys"],
          .terms = values["terms"],
          .steps = values["steps"]};
}

std::vector<space::Knob> knobs(const ir::Program& program, const target::Target& target) {
  const Shape s = shape_of(program);
  space::Knob queries{"queries", space::KnobKind::Split, {}};
  for (const std::int64_t rows : {1, 2, 4, 8, 16, 32}) {
    for (const std::int64_t each : {1, 2, 4}) {
      if (rows * each == 1 || rows * each < 2 * s.queries)
        queries.choices.push_back({{rows, each}});
    }
  }
  std::vector<std::int64_t> lanes, terms;
  for (const std::int64_t count : {4, 8, 16, 32, 64, 128}) {
    if (count <= target.launch.threads_per_block) lanes.push_back(count);
  }
  if (lanes.empty()) lanes.push_back(1);
  for (const std::int64_t count : {8, 16, 32, 64}) {
    if (count < 2 * s.terms) terms.push_back(count);
  }
  terms.push_back(0);
  return {std::move(queries), space::choice_of("lanes", lanes),
          space::split_list("keys", s.keys, {1, 2, 4}), space::choice_of("terms", terms),
          space::split_list("steps", s.keys, {1, 2, 4, 8, 16})};
}

std::int64_t shared_bytes(const Shape& s, const Tiles& t) {
  const std::int64_t rows = t.queries() * (2 * s.keys + 2 * t.lanes + 2);
  return (rows + t.lanes * t.keys * (t.terms + kVector)) * kElement;
}

std::optional<std::string> reject(const ir::Program& program, const target::Target& target,
                                  const space::Values& values) {
  const Tiles t = tiles_of(values);
  if (t.rows * t.lanes > target.launch.threads_per_block) return "too many threads in a block";
  if (shared_bytes(shape_of(program), t) > target.launch.shared_bytes) {
    return "rows do not fit into shared memory";
  }
  return std::nullopt;
}

// As many queries as leave every multiprocessor a block, in a block of some warps.
space::Settings default_values(const ir::Program& program, const target::Target& target) {
  const Shape s = shape_of(program);
  Tiles best{.rows = 1};
  for (const std::int64_t rows : {2, 4, 8}) {
    const Tiles tiles{.rows = rows};
    const std::int64_t blocks = s.batch * ((s.queries + rows - 1) / rows);
    if (rows < 2 * s.queries && shared_bytes(s, tiles) <= target.launch.shared_bytes / 2 &&
        2 * blocks >= target.launch.multiprocessors) {
      best = tiles;
    }
  }
  best.lanes = best.rows >= 8 ? 16 : best.rows >= 4 ? 32 : 64;
  return {{"queries", {{best.rows, best.each}}},
          {"lanes", {{best.lanes}}},
          {"keys", {{best.keys}}},
          {"terms", {{best.terms}}},
          {"steps", {{best.steps}}}};
}

class AttentionWriter {
 public:
  AttentionWriter(LaunchWriter& writer, const ir::Program& program, const Tiles& tiles)
      : writer_(writer), program_(program), tiles_(tiles) {}

  // From the last stage to the first: each is placed where the next ones read it.
  bool write() {
    return cut_output() && place_product() && share_rows(kSum) && place_exponentials() &&
           share_rows(kMax) && place_scores() && place_first();
  }

 private:
  bool perform(const schedule::Step& step) { return writer_.perform(step); }

  bool in_block(const std::string& stage) {
    return perform(schedule::ComputeAt{stage, "output", block_}) &&
           perform(schedule::SetScope{stage, "shared"});
  }

  // Whether rows of the stage are cut into whole vectors.
  bool has_vectors(const std::string& stage, std::int64_t width) const {
    return width > 1 && writer_.stage(stage).stage.axes.back().extent % width == 0;
  }

  bool cut_output() {
    schedule::Names axes = writer_.loops("output", false);
    const std::string j = axes.back(), i = axes[axes.size() - 2];
    width_ = has_vectors("output", kVector) ? kVector : 1;
    if (!perform(schedule::Split{"output", i, {tiles_.rows, tiles_.each}}) ||
        !perform(schedule::Split{"output", j, {tiles_.lanes, width_}})) {
      return false;
    }
    schedule::Names blocks(axes.begin(), axes.end() - 2);
    blocks.push_back(i + ".0");
    schedule::Names order(blocks);
    order.insert(order.end(), {j + ".0", i + ".1", j + ".1", i + ".2", j + ".2"});
    if (!perform(schedule::Reorder{"output", order})) return false;
    block_ = writer_.fused("output", blocks);
    thread_ = j + ".1";
    return perform(schedule::Bind{"output", block_, "block.x"}) &&
           perform(schedule::Bind{"output", i + ".1", "thread.y"}) &&
           perform(schedule::Bind{"output", thread_, "thread.x"}) &&
           perform(schedule::Unroll{"output", i + ".2"}) && run_along("output", j + ".2", width_);
  }

  bool run_along(const std::string& stage, const std::string& loop, std::int64_t width) {
    return width > 1 ? perform(schedule::Vectorize{stage, loop})
                     : perform(schedule::Unroll{stage, loop});
  }

  // The second product in registers, some keys at a time.
  bool place_product() {
    if (!perform(schedule::ComputeAt{"anchor", "output", thread_}) ||
        !perform(schedule::SetScope{"anchor", "register"}) ||
        !perform(schedule::Split{"anchor", "k", {tiles_.steps}})) {
      return false;
    }
    schedule::Names own = writer_.loops("anchor", false), order{"k.0", "k.1"};
    order.insert(order.end(), own.begin(), own.end());
    if (!perform(schedule::Reorder{"anchor", order}) ||
        !perform(schedule::Unroll{"anchor", "k.1"})) {
      return false;
    }
    const std::string last = own.back();
    own.pop_back();
    for (const std::string& loop : own) {
      if (!perform(schedule::Unroll{"anchor", loop})) return false;
    }
    return run_along("anchor", last, width_);
  }

  // Queries of a stage in shared memory: rows of threads, and what each thread has of them.
  bool cut_queries(const std::string& stage, const std::string& i) {
    return perform(schedule::Split{stage, i, {tiles_.each}}) &&
           perform(schedule::Bind{stage, i + ".0", "thread.y"});
  }

  // Every lane reduces its own keys, and one thread of a row what they found.
  bool share_rows(const std::string& stage) {
    const std::string keys = writer_.fused(stage, writer_.loops(stage, true));
    if (!perform(schedule::Split{stage, keys, {tiles_.lanes}}) ||
        !perform(schedule::Rfactor{stage, keys + ".1"})) {
      return false;
    }
    const std::string partial = "rf." + stage;
    if (!in_block(stage) || !in_block(partial)) return false;
    const std::string i = writer_.loops(stage, false).back();
    const std::string lane = writer_.loops(partial, false).back();
    if (!cut_queries(stage, i) || !cut_queries(partial, i) ||
        !perform(schedule::Bind{partial, lane, "thread.x"})) {
      return false;
    }
    for (const std::string& loop : writer_.loops(stage, true)) {
      if (tiles_.lanes <= kMostUnrolled && !perform(schedule::Unroll{stage, loop})) return false;
    }
    return true;
  }

  bool place_exponentials() {
    const schedule::Names axes = writer_.loops(kExp, false);
    const std::string j = axes.back(), i = axes[axes.size() - 2];
    return in_block(kExp) && cut_queries(kExp, i) &&
           perform(schedule::Split{kExp, j, {tiles_.lanes}}) &&
           perform(schedule::Bind{kExp, j + ".1", "thread.x"});
  }

  bool place_scores() {
    const schedule::Names axes = writer_.loops(kScores, false);
    const std::string j = axes.back(), i = axes[axes.size() - 2];
    const std::int64_t width = has_vectors(kScores, tiles_.keys) ? tiles_.keys : 1;
    if (!in_block(kScores) || !cut_queries(kScores, i) ||
        !perform(schedule::Split{kScores, j, {tiles_.lanes, tiles_.keys}})) {
      return false;
    }
    schedule::Names order(axes.begin(), axes.end() - 2);
    order.insert(order.end(), {j + ".0", i + ".0", j + ".1", i + ".1", j + ".2"});
    scores_thread_ = j + ".1";
    return perform(schedule::Reorder{kScores, order}) &&
           perform(schedule::Bind{kScores, scores_thread_, "thread.x"}) &&
           perform(schedule::Unroll{kScores, i + ".1"}) && run_along(kScores, j + ".2", width);
  }

  // The first product in registers: slabs of terms, and some of these at a time.
  bool place_first() {
    const ir::Stage& first = *program_.find_stage(kFirst);
    const std::int64_t terms = extent_of(first, "k");
    const std::int64_t vector = terms % kVector == 0 ? kVector : 1;
    const std::int64_t slab = tiles_.terms == 0 ? vector : std::max(tiles_.terms, vector);
    if (!perform(schedule::ComputeAt{kFirst, kScores, scores_thread_}) ||
        !perform(schedule::SetScope{kFirst, "register"}) ||
        !perform(schedule::Split{kFirst, "k", {slab / vector, vector}})) {
      return false;
    }
    schedule::Names own = writer_.loops(kFirst, false), order{"k.0", "k.1", "k.2"};
    order.insert(order.end(), own.begin(), own.end());
    own.push_back("k.2");
    if (!perform(schedule::Reorder{kFirst, order})) return false;
    for (const std::string& loop : own) {
      if (!perform(schedule::Unroll{kFirst, loop})) return false;
    }
    const auto product = product_of(program_, first);
    if (!product) return true;
    const bool staged = tiles_.terms > 0 && product->right.steps >= 0 && product->right.tile >= 0;
    if (staged && !fetch_keys(product->right)) return false;
    if (vector > 1) writer_.attempt([&] { return hold_queries(product->left); });
    return true;
  }

  // A stage that nobody else reads, or a copy, which is then placed at a loop of the first product.
  std::string placeable(const ir::Buffer& buffer, const std::string& loop, const char* scope) {
    const ir::Stage* made_by = program_.producer(buffer);
    const bool here = made_by != nullptr && !reduces(*made_by) &&
                      constants_of(program_).count(buffer) == 0 && !is_output(program_, *made_by) &&
                      readers_of(program_, *made_by).size() == 1;
    const std::string copy = here ? buffer->name : "cache." + buffer->name;
    if (!here && !perform(schedule::CacheRead{buffer->name, kFirst})) return "";
    if (!perform(schedule::ComputeAt{copy, kFirst, loop}) ||
        !perform(schedule::SetScope{copy, scope})) {
      return "";
    }
    return copy;
  }

  // Neighbours along the terms are fetched as vectors; keys that threads of a row read at once lie
  // in different banks.
  bool fetch_keys(const ProductOperand& keys) {
    const std::string copy = placeable(keys.buffer, "k.0", "shared");
    if (copy.empty()) return false;
    schedule::Names axes = writer_.loops(copy, false);
    const std::string term = axes[static_cast<std::size_t>(keys.steps)];
    const std::string key = axes[static_cast<std::size_t>(keys.tile)];
    schedule::Layout layout{copy, {}};
    for (const std::string& axis : axes) {
      if (axis == term) continue;
      if (axis != key || tiles_.keys == 1) {
        layout.terms.push_back(axis);
        continue;
      }
      const std::string each = std::to_string(tiles_.keys);
      layout.terms.push_back(axis + "%" + each);
      layout.terms.push_back(axis + "/" + each);
    }
    layout.terms.push_back(term);
    if (!perform(layout) || !perform(schedule::StorageAlign{copy, kBanks, kVector})) return false;
    std::erase(axes, term);
    axes.push_back(term);
    if (!perform(schedule::Reorder{copy, axes})) return false;
    const ir::Stage stage = writer_.stage(copy).stage;
    const bool vectors = strides_of(stage, term).scattered == 0 && tiles_.terms % kVector == 0 &&
                         extent_of(stage, term) % kVector == 0;
    if (vectors) {
      if (!perform(schedule::Split{copy, term, {kVector}}) ||
          !perform(schedule::Vectorize{copy, term + ".1"})) {
        return false;
      }
      axes.back() = term + ".0";
    }
    const std::string all = writer_.fused(copy, axes);
    return perform(schedule::Split{copy, all, {tiles_.rows, tiles_.lanes}}) &&
           perform(schedule::Bind{copy, all + ".1", "thread.y"}) &&
           perform(schedule::Bind{copy, all + ".2", "thread.x"});
  }

  // The terms of a thread's queries that it multiplies next.
  bool hold_queries(const ProductOperand& queries) {
    if (queries.steps < 0) return false;
    const std::string copy = placeable(queries.buffer, "k.1", "register");
    if (copy.empty()) return false;
    schedule::Names axes = writer_.loops(copy, false);
    const std::string term = axes[static_cast<std::size_t>(queries.steps)];
    std::erase(axes, term);
    for (const std::string& axis : axes) {
      if (!perform(schedule::Unroll{copy, axis})) return false;
    }
    axes.push_back(term);
    return perform(schedule::Reorder{copy, axes}) && perform(schedule::Vectorize{copy, term});
  }

  LaunchWriter& writer_;
  const ir::Program& program_;
  const Tiles tiles_;
  std::int64_t width_ = 1;      // of what a thread stores
  std::string block_, thread_;  // loops of the output
  std::string scores_thread_;   // of the scores
};

Inlined inlined_of(const ir::Program& program) {
  std::set<std::string> kept{kScores, kExp};
  if (const auto product = product_of(program, *program.find_stage(kFirst))) {
    kept.insert({product->left.buffer->name, product->right.buffer->name});
  }
  return inline_producers(program, kWastedWork, kept);
}

schedule::Trace trace(const ir::Program& program, const target::Target& target,
                      const space::Values& values) {
  const Inlined inlined = inlined_of(program);
  LaunchWriter writer(program, inlined.steps, target.launch);
  std::set<std::string> done;
  const bool written = writer.together(
      [&] { return AttentionWriter(writer, inlined.program, tiles_of(values)).write(); });
  if (written) {
    for (const ir::Stage& stage : inlined.program.stages) {
      const int index = writer.state().find(stage.name);
      const bool root =
          index >= 0 && writer.state().stages[static_cast<std::size_t>(index)]->at_root();
      if (!root || stage.name == "output") done.insert(stage.name);
    }
  }
  write_others(writer, inlined.program, done,
               {.tiling = {.threads_y = 4, .tile_y = 2, .threads_x = 16, .tile_x = 2, .chunk = 8},
                .threads = 128,
                .per_thread = 1});
  return writer.take();
}

}  // namespace

space::Template launch_attention() {
  return {"attention", fits, knobs, trace, default_values, reject};
}

}  // namespace attune::templates
