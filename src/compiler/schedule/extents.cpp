#include "compiler/schedule/extents.h"

#include <algorithm>

#include "base/match.h"

namespace attune::schedule {
namespace {

std::int64_t product(const std::vector<std::int64_t>& factors) {
  std::int64_t p = 1;
  for (std::int64_t f : factors) p *= f;
  return p;
}

// How many values each iter takes when all loops run to their ends, beyond those of partial splits:
// there, of what was fused, only the outermost goes on.
Extents reached_values(const StageState& stage, const Extents& iter_extents) {
  Extents reached = iter_extents;
  for (auto r = stage.relations.rbegin(); r != stage.relations.rend(); ++r) {
    std::visit(Match{
                   [&](const SplitRelation& split) {
                     std::int64_t last = 0, stride = 1;
                     for (std::size_t i = split.children.size(); i-- > 0;) {
                       last += (reached[split.children[i]] - 1) * stride;
                       stride *= iter_extents[split.children[i]];
                     }
                     reached[split.parent] = last + 1;
                   },
                   [&](const FuseRelation& fuse) {
                     const int outer = fuse.parents[0];
                     const std::int64_t inner = iter_extents[fuse.child] / iter_extents[outer];
                     reached[outer] = (reached[fuse.child] + inner - 1) / inner;
                   },
               },
               *r);
  }
  return reached;
}

}  // namespace

Extents loop_extents(const StageState& stage, const Extents& axes) {
  Extents extents(stage.iters.size(), 1);
  std::copy(axes.begin(), axes.end(), extents.begin());
  for (const Relation& relation : stage.relations) {
    std::visit(Match{
                   [&](const SplitRelation& r) {
                     const std::int64_t inner = product(r.factors);
                     extents[r.children[0]] = (extents[r.parent] + inner - 1) / inner;
                     for (std::size_t i = 0; i < r.factors.size(); ++i) {
                       extents[r.children[i + 1]] = r.factors[i];
                     }
                     // More than there is to split would only make idle iterations.
                     if (r.factors.size() == 1) {
                       extents[r.children[1]] = std::min(r.factors[0], extents[r.parent]);
                     }
                   },
                   [&](const FuseRelation& r) {
                     for (int parent : r.parents) extents[r.child] *= extents[parent];
                   },
               },
               relation);
  }
  return extents;
}

Extents axis_spans(const StageState& stage, const Extents& iter_extents, int first_varying) {
  return axis_spans(stage, iter_extents, first_varying, static_cast<int>(stage.loops.size()),
                    Overrun::Cut);
}

Extents axis_spans(const StageState& stage, const Extents& iter_extents, int first_varying, int end,
                   Overrun overrun) {
  Extents spans = iter_spans(stage, iter_extents, first_varying, end, overrun);
  spans.resize(stage.stage.axes.size() + stage.stage.reduce_axes.size());
  return spans;
}

Extents iter_spans(const StageState& stage, const Extents& iter_extents, int first_varying, int end,
                   Overrun overrun) {
  Extents spans(stage.iters.size(), 1);
  for (int i = first_varying; i < end; ++i) spans[stage.loops[i]] = iter_extents[stage.loops[i]];
  const Extents reached =
      overrun == Overrun::Keep ? reached_values(stage, iter_extents) : iter_extents;
  for (auto r = stage.relations.rbegin(); r != stage.relations.rend(); ++r) {
    std::visit(Match{
                   [&](const SplitRelation& split) {
                     std::int64_t span = 1, stride = 1;
                     for (std::size_t i = split.children.size(); i-- > 0;) {
                       span += (spans[split.children[i]] - 1) * stride;
                       if (i > 0) stride *= iter_extents[split.children[i]];
                     }
                     spans[split.parent] = std::min(span, reached[split.parent]);
                   },
                   [&](const FuseRelation& fuse) {
                     for (int parent : fuse.parents) {
                       spans[parent] = spans[fuse.child] == 1 ? 1 : reached[parent];
                     }
                   },
               },
               *r);
  }
  return spans;
}

std::int64_t stride_of(const StageState& stage, const Extents& iter_extents, int loop, int axis) {
  std::int64_t stride = 1;
  while (loop != axis) {
    bool found = false;
    for (const Relation& relation : stage.relations) {
      const auto* split = std::get_if<SplitRelation>(&relation);
      if (!split) continue;
      const auto child = std::find(split->children.begin(), split->children.end(), loop);
      if (child == split->children.end()) continue;
      for (auto inner = child + 1; inner != split->children.end(); ++inner) {
        stride *= iter_extents[*inner];
      }
      loop = split->parent;
      found = true;
      break;
    }
    if (!found) return 0;
  }
  return stride;
}

}  // namespace attune::schedule
