#include "tuner/templates/launches/attention_schedule.h"

#include <algorithm>

#include "tuner/templates/attention_facts.h"
#include "tuner/templates/dataflow.h"
#include "tuner/templates/launches/lane_sums.h"
#include "tuner/templates/launches/product_facts.h"
#include "tuner/templates/program_facts.h"

namespace attune::templates {
namespace {

constexpr std::int64_t kBanks = 32, kVector = kAttentionVector;

// Columns that a thread computes at once.
std::int64_t width_of(const AttentionShape& s) { return s.columns % kVector == 0 ? kVector : 1; }

class AttentionWriter {
 public:
  AttentionWriter(LaunchWriter& writer, const ir::Program& program, const AttentionTiles& tiles)
      : writer_(writer),
        program_(program),
        tiles_(tiles),
        groups_(key_groups(attention_shape(program), tiles)) {}

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

  // The second product, by whoever stores it or by groups of lanes.
  bool place_product() {
    if (groups_ == 1) return multiply("anchor", "output", thread_, "k");
    const std::int64_t keys = extent_of(*program_.find_stage("anchor"), "k");
    if (!perform(schedule::Split{"anchor", "k", {(keys + groups_ - 1) / groups_}}) ||
        !perform(schedule::Rfactor{"anchor", "k.0"}) ||
        !perform(schedule::CacheWrite{"rf.anchor"}) ||
        !perform(schedule::ComputeAt{"anchor", "output", thread_}) ||
        !perform(schedule::SetScope{"anchor", "register"})) {
      return false;
    }
    schedule::Names own = writer_.loops("anchor", false);
    const std::string last = own.back();
    own.back() = "k_0";
    for (const std::string& loop : own) {
      if (!perform(schedule::Unroll{"anchor", loop})) return false;
    }
    schedule::Names order(own);
    order.push_back(last);
    return perform(schedule::Reorder{"anchor", order}) && run_along("anchor", last, width_) &&
           share_product();
  }

  // What every group found, in shared memory.
  bool share_product() {
    const std::string stage = "rf.anchor";
    schedule::Names axes = writer_.loops(stage, false), order(axes.begin(), axes.end() - 3);
    schedule::Layout layout{stage, {"k_0"}};
    layout.terms.insert(layout.terms.end(), axes.begin(), axes.end() - 1);
    if (!in_block(stage) || !perform(layout) || !cut_queries(stage, "i") ||
        !perform(schedule::Split{stage, "j", {width_}})) {
      return false;
    }
    order.insert(order.end(), {"i.0", "k_0", "j.0", "i.1", "j.1"});
    if (!perform(schedule::Reorder{stage, order})) return false;
    const std::string lanes = writer_.fused(stage, {"k_0", "j.0"});
    return perform(schedule::Bind{stage, lanes, "thread.x"}) &&
           perform(schedule::Unroll{stage, "i.1"}) && run_along(stage, "j.1", width_) &&
           multiply("cache." + stage, stage, lanes, "k_1");
  }

  // In registers, some keys at a time.
  bool multiply(const std::string& stage, const std::string& host, const std::string& loop,
                const std::string& k) {
    if (!perform(schedule::ComputeAt{stage, host, loop}) ||
        !perform(schedule::SetScope{stage, "register"}) ||
        !perform(schedule::Split{stage, k, {tiles_.steps}})) {
      return false;
    }
    schedule::Names own = writer_.loops(stage, false), order{k + ".0", k + ".1"};
    std::erase(own, "j");
    order.insert(order.end(), own.begin(), own.end());
    order.push_back("j");
    own.push_back(k + ".1");
    if (!perform(schedule::Reorder{stage, order})) return false;
    for (const std::string& each : own) {
      if (!perform(schedule::Unroll{stage, each})) return false;
    }
    return run_along(stage, "j", width_);
  }

  // Queries of a stage in shared memory: rows of threads, and what each thread has of them.
  bool cut_queries(const std::string& stage, const std::string& i) {
    return perform(schedule::Split{stage, i, {tiles_.each}}) &&
           perform(schedule::Bind{stage, i + ".0", "thread.y"});
  }

  bool share_rows(const std::string& stage) {
    const std::string i = writer_.loops(stage, false).back();
    const LanePlace place{"output", block_, [&](const std::string& each, std::size_t) {
                            return cut_queries(each, i);
                          }};
    return reduce_by_lanes(writer_, stage, std::min(tiles_.lanes, kReducingLanes), place);
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
  const AttentionTiles tiles_;
  const std::int64_t groups_;
  std::int64_t width_ = 1;      // of what a thread stores
  std::string block_, thread_;  // loops of the output
  std::string scores_thread_;   // of the scores
};

}  // namespace

AttentionShape attention_shape(const ir::Program& program) {
  const ir::Stage& first = *program.find_stage(kFirst);
  return {.batch = std::max<std::int64_t>(1, extent_of(first, "b")),
          .queries = extent_of(first, "i"),
          .keys = extent_of(first, "j"),
          .terms = extent_of(first, "k"),
          .columns = extent_of(*program.find_stage("anchor"), "j")};
}

std::int64_t key_groups(const AttentionShape& s, const AttentionTiles& t) {
  const std::int64_t vectors = (s.columns + width_of(s) - 1) / width_of(s);
  return std::clamp<std::int64_t>(t.lanes / vectors, 1, s.keys);
}

bool write_attention(LaunchWriter& writer, const ir::Program& program,
                     const AttentionTiles& tiles) {
  return AttentionWriter(writer, program, tiles).write();
}

}  // namespace attune::templates
