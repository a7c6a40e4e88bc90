#include "tuner/space/nest.h"

#include <algorithm>
#include <cmath>
#include <span>

namespace attune::space {
namespace {

using schedule::StageBounds;
using schedule::StageState;

// The loop that an iterator became by later splits, as the outermost part of it, and fusions.
struct OutermostLoop {
  std::size_t position;  // the number of loops when it became none
  bool leads;            // it is the slowest part of that loop: its end is the loop's end
};

OutermostLoop outermost_loop_of(const StageState& stage, const StageBounds& bounds,
                                std::size_t relation, int iter) {
  bool leads = true;
  for (std::size_t r = relation + 1; r < stage.relations.size(); ++r) {
    if (const auto* split = std::get_if<schedule::SplitRelation>(&stage.relations[r])) {
      if (split->parent == iter) iter = split->children[0];
    } else if (const auto* fuse = std::get_if<schedule::FuseRelation>(&stage.relations[r])) {
      const auto& parts = fuse->parents;
      if (std::find(parts.begin(), parts.end(), iter) == parts.end()) continue;
      for (const int part : parts) {
        if (part == iter) break;
        leads = leads && bounds.iters[part] == 1;
      }
      iter = fuse->child;
    }
  }
  const auto loop = std::find(stage.loops.begin(), stage.loops.end(), iter);
  return {static_cast<std::size_t>(loop - stage.loops.begin()), leads};
}

// Splits that do not divide cut off iterations of their outermost loops.
void cut_levels(const StageState& stage, const StageBounds& bounds, std::span<Level> own) {
  for (std::size_t r = 0; r < stage.relations.size(); ++r) {
    const auto* split = std::get_if<schedule::SplitRelation>(&stage.relations[r]);
    if (!split) continue;
    std::int64_t covered = 1;
    for (int child : split->children) covered *= bounds.iters[child];
    if (covered == bounds.iters[split->parent]) continue;
    const OutermostLoop loop = outermost_loop_of(stage, bounds, r, split->children[0]);
    if (loop.position == own.size()) continue;
    const double useful =
        static_cast<double>(bounds.iters[split->parent]) / static_cast<double>(covered);
    own[loop.position].useful *= useful;
    if (!loop.leads) continue;
    own[loop.position].useful_end *= useful;
    own[loop.position].ends = bounds.iters[split->children[0]];
  }
}

using Readers = std::vector<std::pair<int, const schedule::Access*>>;

// What of stage `wanted` is needed while its consumers' axes move as far as `spans_of` says of
// their nests, null for those that do not matter: the union, by extents.
template <typename SpansOf>
Spans needed_spans(const schedule::State& state, const std::vector<StageNest>& nests,
                   const StageBounds& bounds, int wanted, const Readers& readers,
                   const SpansOf& spans_of) {
  const ir::Stage& stage = state.stages[static_cast<std::size_t>(wanted)]->stage;
  Spans spans;
  spans.stage = &stage;
  spans.size = stage.axes.size() + stage.reduce_axes.size();
  for (std::size_t a = 0; a < spans.size; ++a) spans[a] = bounds.axes[a];
  for (const auto& [reader, access] : readers) {
    const Spans* moved = spans_of(nests[static_cast<std::size_t>(reader)]);
    if (!moved) continue;
    for (std::size_t d = 0; d < stage.axes.size(); ++d) {
      const std::int64_t span = dim_span(access->dims[d], *moved, stage.axes[d].extent);
      spans[d] = std::max(spans[d], span);
    }
  }
  return spans;
}

Readers readers_of(const schedule::State& state, int stage) {
  Readers readers;
  const auto& outputs = state.stages[static_cast<std::size_t>(stage)]->stage.outputs;
  for (std::size_t i = static_cast<std::size_t>(stage) + 1; i < state.stages.size(); ++i) {
    for (const schedule::Access& access : state.stages[i]->accesses) {
      if (std::find(outputs.begin(), outputs.end(), access.buffer) != outputs.end()) {
        readers.emplace_back(static_cast<int>(i), &access);
      }
    }
  }
  return readers;
}

// The loops outside of the place where an attached stage is computed.
void add_outer_levels(const schedule::State& state, const std::vector<StageBounds>& bounds,
                      std::vector<StageNest>& nests, int index) {
  const StageState& stage = *state.stages[static_cast<std::size_t>(index)];
  StageNest& nest = nests[static_cast<std::size_t>(index)];
  const int host = state.find(stage.at_stage);
  if (host < 0) return;
  const StageState& host_stage = *state.stages[static_cast<std::size_t>(host)];
  const StageNest& host_nest = nests[static_cast<std::size_t>(host)];
  const auto inside = static_cast<std::size_t>(host_stage.find_loop(stage.at_loop) + 1);
  nest.own = host_nest.own + inside;
  nest.root = host_nest.root;
  const auto readers = readers_of(state, index);
  const StageBounds& own = bounds[static_cast<std::size_t>(index)];
  for (std::size_t level = 0; level < nest.own; ++level) {
    const Level& outer = host_nest.levels[level];
    const auto within = [&](const StageNest& reader) {
      return level < reader.levels.size() ? &reader.levels[level].spans : nullptr;
    };
    nest.levels.push_back({outer.extent, outer.kind,
                           needed_spans(state, nests, own, index, readers, within), outer.useful,
                           outer.useful_end, outer.ends});
  }
  if (host_nest.shared >= nest.own) return;
  nest.shared = host_nest.shared;
  nest.of_thread = needed_spans(state, nests, own, index, readers, [&](const StageNest& reader) {
    return reader.shared == nest.shared ? &reader.of_thread : nullptr;
  });
}

// Of the loop of the stage itself that the threads share.
void add_shared_loop(const StageState& stage, const StageBounds& bounds, int threads,
                     StageNest& nest) {
  for (std::size_t position = 0; position < stage.loops.size(); ++position) {
    const auto loop = static_cast<std::size_t>(stage.loops[position]);
    if (stage.iters[loop].kind != ir::LoopKind::Parallel) continue;
    nest.shared = nest.own + position;
    schedule::Extents extents = bounds.iters;
    extents[loop] = (extents[loop] + threads - 1) / threads;
    nest.of_thread = spans_within(stage, extents, static_cast<int>(position));
    return;
  }
}

// Stages that are placed inside of others share their fate.
void mark_ahead(const schedule::State& state, std::vector<StageNest>& nests) {
  for (std::size_t i = 0; i < state.stages.size(); ++i) {
    bool constant = true;
    for (const schedule::Access& access : state.stages[i]->accesses) {
      const int producer = state.producer_of(access.buffer);
      if (producer >= 0) {
        constant = constant && nests[static_cast<std::size_t>(producer)].ahead;
        continue;
      }
      for (const ir::Input& input : state.inputs) {
        if (input.buffer == access.buffer) constant = constant && input.constant;
      }
    }
    nests[i].ahead = constant;
  }
  for (StageNest& nest : nests) nest.ahead = nest.ahead && nests[nest.root].ahead;
}

constexpr std::int64_t kLine = 64;

}  // namespace

double Level::speed(int threads) const {
  const double all = static_cast<double>(extent), each = all / static_cast<double>(ends);
  const double last = std::max(0.0, 1 - (1 - useful_end) * static_cast<double>(ends));
  const auto work = [&](double iterations) {  // of the first ones
    const double full = std::min(iterations, all - each);
    return full + (iterations - full) * last;
  };
  return work(all) / work(std::ceil(all / std::max(1, threads)));
}

double StageNest::iterations() const {
  double product = useful;
  for (const Level& level : levels) product *= static_cast<double>(level.extent);
  return product;
}

double touched_bytes(const schedule::Access& access, const Spans& spans, bool row_major) {
  std::int64_t bytes = access.buffer->type.bytes();
  for (std::size_t d = access.dims.size(); d-- > 0;) {
    const std::int64_t whole = access.buffer->shape[d];
    const std::int64_t span = dim_span(access.dims[d], spans, whole);
    bytes *= span;
    if (d + 1 == access.dims.size() && row_major && span < whole) {
      bytes = (bytes + kLine - 1) / kLine * kLine;
    }
  }
  return static_cast<double>(bytes);
}

double written_bytes(const ir::Stage& stage, const Spans& spans) {
  std::int64_t bytes = 0;
  for (const ir::Buffer& output : stage.outputs) bytes += output->type.bytes();
  for (std::size_t a = 0; a < stage.axes.size(); ++a) bytes *= spans[a];
  return static_cast<double>(bytes);
}

std::vector<StageNest> loop_nests(const schedule::State& state,
                                  const std::vector<StageBounds>& bounds, int threads) {
  std::vector<StageNest> nests(state.stages.size());
  for (int i = static_cast<int>(state.stages.size()) - 1; i >= 0; --i) {
    const StageState& stage = *state.stages[static_cast<std::size_t>(i)];
    const StageBounds& b = bounds[static_cast<std::size_t>(i)];
    StageNest& nest = nests[static_cast<std::size_t>(i)];
    nest.root = static_cast<std::size_t>(i);
    nest.shared = static_cast<std::size_t>(-1);
    nest.levels.reserve(stage.loops.size() + 16);
    if (!stage.at_root()) add_outer_levels(state, bounds, nests, i);
    for (std::size_t position = 0; position < stage.loops.size(); ++position) {
      const int loop = stage.loops[position];
      nest.levels.push_back({b.iters[loop], stage.iters[loop].kind,
                             spans_within(stage, b.iters, static_cast<int>(position))});
    }
    if (nest.shared > nest.own) add_shared_loop(stage, b, std::max(1, threads), nest);
    cut_levels(stage, b, std::span(nest.levels).subspan(nest.own));
    for (const Level& level : nest.levels) nest.useful *= level.useful;
  }
  mark_ahead(state, nests);
  return nests;
}

}  // namespace attune::space
