// Context-relation features (Chen et al. 2018, section 4.2): for thresholds on what loops touch,
// the most that is done by a loop below the threshold. Nothing depends on the order or the number
// of the loops, everything is on a log2 scale, and sizes are either absolute bytes or relative to
// the caches and registers of the target, so that what one shape, operator or processor teaches
// holds for the next.
#include <algorithm>
#include <cmath>

#include "base/check.h"
#include "tuner/features/kinds.h"
#include "tuner/features/loop_facts.h"
#include "tuner/space/aliasing.h"

namespace attune::features {
namespace {

using space::StageNest;

// Thresholds are powers of two: from 2^first, `count` of them, `step` apart.
struct Thresholds {
  int first, step;
  std::size_t count;
};
constexpr Thresholds kTileBytes{9, 1, 18};
constexpr Thresholds kSlotBytes{6, 2, 10};
constexpr Thresholds kSlotReuse{0, 2, 7};
constexpr Thresholds kStrides{0, 4, 4};
constexpr std::size_t kCacheSizes = 6, kAnnotations = 4, kBodyFacts = 13, kProgramFacts = 12,
                      kMainFacts = 8;
constexpr std::size_t kWidth = kTileBytes.count + kCacheSizes +
                               kSlots * (kSlotBytes.count + kSlotReuse.count + kStrides.count) +
                               2 * kAnnotations + 2 * kBodyFacts + kMainFacts + kProgramFacts;

class Writer {
 public:
  explicit Writer(std::span<float> out) : out_(out) {}
  void put(float value) { out_[at_++] = value; }
  void skip(std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) put(0);
  }
  std::size_t written() const { return at_; }

 private:
  std::span<float> out_;
  std::size_t at_ = 0;
};

// For each threshold the largest `value` of a loop whose `key` does not exceed it.
template <typename Key, typename Value>
void put_curve(Writer& out, const Thresholds& thresholds, const std::vector<LoopFacts>& loops,
               const Key& key, const Value& value) {
  for (std::size_t t = 0; t < thresholds.count; ++t) {
    const double limit = std::ldexp(1.0, thresholds.first + thresholds.step * static_cast<int>(t));
    double most = 0;
    for (const LoopFacts& loop : loops) {
      if (key(loop) <= limit) most = std::max(most, value(loop));
    }
    out.put(log_of(most));
  }
}

// Iterations per byte of the largest tile that fits into (half of) each cache: what has to come
// from beyond it is the inverse.
void put_cache_intensity(Writer& out, const std::vector<LoopFacts>& loops,
                         const target::Target& target) {
  for (std::int64_t bytes : {target.l1_bytes, target.l2_bytes, target.l3_bytes}) {
    for (double part : {0.5, 1.0}) {
      double most = 1.0 / 16;
      for (const LoopFacts& loop : loops) {
        if (loop.bytes() <= part * static_cast<double>(bytes)) {
          most = std::max(most, loop.inside / loop.bytes());
        }
      }
      out.put(log_ratio(most, 1));
    }
  }
}

void put_curves(Writer& out, const std::vector<LoopFacts>& loops, const target::Target& target) {
  put_curve(
      out, kTileBytes, loops, [](const LoopFacts& l) { return l.bytes(); },
      [](const LoopFacts& l) { return l.inside; });
  put_cache_intensity(out, loops, target);
  for (std::size_t slot = 0; slot < kSlots; ++slot) {
    const auto bytes = [&](const LoopFacts& l) { return l.touches[slot].bytes; };
    const auto reuse = [&](const LoopFacts& l) { return l.reuse(slot); };
    put_curve(out, kSlotBytes, loops, bytes, reuse);
    put_curve(out, kSlotReuse, loops, reuse, bytes);
    put_curve(
        out, kStrides, loops, [&](const LoopFacts& l) { return l.touches[slot].stride; },
        [](const LoopFacts& l) { return l.extent; });
  }
  for (ir::LoopKind kind : {ir::LoopKind::Parallel, ir::LoopKind::Vectorized,
                            ir::LoopKind::Unrolled, ir::LoopKind::Serial}) {
    double product = 1, bytes = 0;
    for (const LoopFacts& loop : loops) {
      if (loop.kind != kind) continue;
      product *= loop.extent;
      bytes = std::max(bytes, loop.bytes());
    }
    out.put(log_of(product));
    out.put(log_of(bytes));
  }
}

// What one run of the innermost body does with the registers and the ports.
void put_body(Writer& out, const schedule::State& state, const StageFacts& facts,
              const StageNest& nest, double main_iterations, const target::Target& target) {
  const schedule::StageState& stage = *state.stages[facts.stage];
  const space::RegisterTile& tile = facts.tile;
  const auto results = static_cast<double>(tile.results);
  space::Spans step = tile.spans;
  for (std::size_t i = stage.stage.axes.size(); i < step.size; ++i) step[i] = 1;
  space::OperandLoads loads;
  for (const schedule::Access& access : stage.accesses) {
    const auto one =
        space::operand_loads(access, space::layout_of(state, access.buffer), tile, step);
    loads.vectors += one.vectors;
    loads.broadcasts += one.broadcasts;
    loads.gathers += one.gathers;
  }
  const int element_bytes = static_cast<int>(stage.stage.outputs[0]->type.bytes());
  const std::size_t body = facts.own + static_cast<std::size_t>(tile.body);
  out.put(log_ratio(static_cast<double>(tile.lanes), target.lanes(element_bytes)));
  out.put(log_of(results));
  out.put(log_of(static_cast<double>(tile.kept)));
  out.put(log_of(static_cast<double>(tile.steps)));
  out.put(log_ratio(static_cast<double>(space::registers_needed(state, stage, tile)),
                    target.vector_registers));
  out.put(static_cast<float>(loads.vectors) / static_cast<float>(results));
  out.put(static_cast<float>(loads.broadcasts) / static_cast<float>(results));
  out.put(static_cast<float>(loads.gathers) / static_cast<float>(results));
  out.put(tile.in_registers ? 1 : 0);
  out.put(stage.stage.reduction == ir::Reduction::None ? 0 : 1);
  out.put(log_of(body > 0 ? facts.loops[body - 1].extent : 1));
  out.put(log_ratio(nest.useful, 1));
  out.put(log_ratio(facts.iterations, main_iterations));
}

// How the operands of the heaviest stage lie in memory, and what its loops were told.
void put_main(Writer& out, const schedule::State& state, const StageFacts& main) {
  const schedule::StageState& stage = *state.stages[main.stage];
  space::Spans step = main.tile.spans;
  for (std::size_t i = stage.stage.axes.size(); i < step.size; ++i) step[i] = 1;
  double row_major_rows = 1, largest = 0;
  float packed = 0, made = 0;
  for (const schedule::Access& access : stage.accesses) {
    const bool row_major = space::layout_of(state, access.buffer).empty();
    if (row_major) row_major_rows = std::max(row_major_rows, space::aliased_rows(access, step));
    packed += row_major ? 0.0F : 1.0F;
    made += state.producer_of(access.buffer) >= 0 ? 1.0F : 0.0F;
    double elements = 1;
    for (std::int64_t extent : access.buffer->shape) elements *= static_cast<double>(extent);
    largest = std::max(largest, elements);
  }
  bool launder = false, prefetch = false, chained = false;
  for (int loop : stage.loops) {
    launder |= schedule::find_note(stage.iters[loop].notes, "launder") != nullptr;
    prefetch |= schedule::find_note(stage.iters[loop].notes, "prefetch") != nullptr;
  }
  if (main.tile.body > 0) {
    chained = stage.iters[stage.loops[static_cast<std::size_t>(main.tile.body - 1)]].reduce;
  }
  out.put(log_of(row_major_rows));
  out.put(packed);
  out.put(made);
  out.put(log_of(largest));
  out.put(launder ? 1 : 0);
  out.put(prefetch ? 1 : 0);
  out.put(schedule::find_note(stage.notes, "init") ? 1 : 0);
  out.put(chained ? 1 : 0);
}

struct Parallelism {
  double balance = 1;  // busy threads by all threads
  double chunks = 1;   // iterations of the parallel loop per thread
};

Parallelism parallelism_of(const StageFacts& facts, const target::Target& target) {
  const double threads = std::max(1, target.threads);
  for (const LoopFacts& loop : facts.loops) {
    if (loop.kind != ir::LoopKind::Parallel) continue;
    return {loop.extent / (std::ceil(loop.extent / threads) * threads), loop.extent / threads};
  }
  return {1 / threads, 1 / threads};
}

void put_program(Writer& out, const schedule::State& state, const std::vector<StageNest>& nests,
                 const StageFacts& main, const target::Target& target) {
  double others = 0, roots = 0, kept_bytes = 0, inner_bytes = 0;
  for (std::size_t i = 0; i < nests.size(); ++i) {
    if (nests[i].ahead) continue;
    const bool at_root = nests[i].root == i;
    if (i != main.stage) others += nests[i].iterations();
    if (at_root) ++roots;
    if (nests[i].levels.empty() || state.is_output(static_cast<int>(i))) continue;
    const double bytes =
        space::written_bytes(state.stages[i]->stage, nests[i].levels[nests[i].own].spans);
    (at_root ? kept_bytes : inner_bytes) += bytes;
  }
  const Parallelism parallel = parallelism_of(main, target);
  const double whole = main.loops.empty() ? 1 : main.loops.front().bytes();
  out.put(log_of(target.threads));
  out.put(log_ratio(parallel.balance, 1));
  out.put(log_ratio(parallel.chunks, 1));
  out.put(log_of(roots));
  out.put(log_ratio(others + 1, main.iterations));
  out.put(log_ratio(main.iterations, whole));
  out.put(log_ratio(whole, static_cast<double>(target.l2_bytes)));
  out.put(log_ratio(whole, static_cast<double>(target.l3_bytes)));
  out.put(log_of(kept_bytes));
  out.put(log_ratio(kept_bytes + 1, static_cast<double>(target.l2_bytes)));
  out.put(log_of(inner_bytes));
  out.put(log_ratio(inner_bytes + 1, static_cast<double>(target.l1_bytes)));
}

}  // namespace

std::size_t relation_width() { return kWidth; }

void extract_relation(const space::Scheduled& scheduled, const target::Target& target,
                      std::span<float> out) {
  const schedule::State& state = scheduled.state;
  const auto nests = space::loop_nests(state, scheduled.bounds);
  const auto stages = busiest_stages(nests);
  Writer writer(out);
  if (stages.empty()) return writer.skip(kWidth);
  const StageFacts main = stage_facts(state, scheduled.bounds, nests, stages[0], target);
  put_curves(writer, main.loops, target);
  put_body(writer, state, main, nests[main.stage], main.iterations, target);
  if (stages.size() > 1) {
    const StageFacts second = stage_facts(state, scheduled.bounds, nests, stages[1], target);
    put_body(writer, state, second, nests[second.stage], main.iterations, target);
  } else {
    writer.skip(kBodyFacts);
  }
  put_main(writer, state, main);
  put_program(writer, state, nests, main, target);
  CHECK(writer.written() == kWidth, "relation features have another width");
}

}  // namespace attune::features
