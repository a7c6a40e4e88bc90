#include "tuner/features/loop_tree.h"

#include <algorithm>

#include "tuner/features/loop_facts.h"

namespace attune::features {
namespace {

// What a stage does inside of a loop of its host is added to what the host does there.
void merge(const LoopFacts& inner, LoopFacts& host) {
  host.inside += inner.inside;
  for (std::size_t slot = 0; slot < kSlots; ++slot) {
    Touch& sum = host.touches[slot];
    sum.elements += inner.touches[slot].elements;
    sum.bytes += inner.touches[slot].bytes;
    sum.stride = std::max(sum.stride, inner.touches[slot].stride);
  }
}

}  // namespace

std::size_t loop_tree_width() { return kLoopWidth; }

LoopTree loop_tree(const space::Scheduled& scheduled, const target::Target& target) {
  const schedule::State& state = scheduled.state;
  const auto nests = space::loop_nests(state, scheduled.bounds);
  LoopTree tree{{-1}, {}};
  std::vector<LoopFacts> facts(1);
  std::vector<std::vector<int>> path(nests.size());  // the nodes around each stage, outermost first
  for (std::size_t i = nests.size(); i-- > 0;) {
    if (nests[i].ahead) continue;
    const StageFacts stage = stage_facts(state, scheduled.bounds, nests, i, target);
    const int host = state.find(state.stages[i]->at_stage);
    for (std::size_t level = 0; level < stage.loops.size(); ++level) {
      if (level < stage.own && host >= 0) {
        const int node = path[static_cast<std::size_t>(host)][level];
        path[i].push_back(node);
        merge(stage.loops[level], facts[static_cast<std::size_t>(node)]);
        continue;
      }
      tree.parent.push_back(path[i].empty() ? 0 : path[i].back());
      path[i].push_back(static_cast<int>(facts.size()));
      facts.push_back(stage.loops[level]);
    }
  }
  tree.context.resize(facts.size() * kLoopWidth);
  for (std::size_t node = 1; node < facts.size(); ++node) {
    encode_loop(facts[node], tree.context.data() + node * kLoopWidth);
  }
  return tree;
}

}  // namespace attune::features
