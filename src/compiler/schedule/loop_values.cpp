#include "compiler/schedule/loop_values.h"

#include "base/match.h"

namespace attune::schedule {

namespace {

// Where values begin. With `spans` (how many values each iter takes, from iter_spans), what was
// fused into an iter that moves begins at 0: a part of a fused loop may wrap around.
void fill(const StageState& stage, const Extents& iter_extents, std::vector<ir::Expr>& values,
          const Extents* spans) {
  for (auto r = stage.relations.rbegin(); r != stage.relations.rend(); ++r) {
    std::visit(Match{
                   [&](const SplitRelation& split) {
                     if (!values[split.children[0]]) return;
                     ir::Expr sum;
                     std::int64_t stride = 1;
                     for (std::size_t i = split.children.size(); i-- > 0;) {
                       ir::Expr term = values[split.children[i]];
                       if (stride != 1) term = term * ir::Expr(stride);
                       sum = sum ? term + sum : term;
                       stride *= iter_extents[split.children[i]];
                     }
                     values[split.parent] = sum;
                   },
                   [&](const FuseRelation& fuse) {
                     if (!values[fuse.child]) return;
                     if (spans && (*spans)[fuse.child] > 1) {
                       for (int parent : fuse.parents) values[parent] = ir::Expr(0);
                       return;
                     }
                     ir::Expr rest = values[fuse.child];
                     for (std::size_t i = fuse.parents.size(); i-- > 0;) {
                       const ir::Expr extent(iter_extents[fuse.parents[i]]);
                       values[fuse.parents[i]] = i == 0 ? rest : rest % extent;
                       if (i > 0) rest = rest / extent;
                     }
                   },
               },
               *r);
  }
}

}  // namespace

void fill_values(const StageState& stage, const Extents& iter_extents,
                 std::vector<ir::Expr>& values) {
  fill(stage, iter_extents, values, nullptr);
}

void fill_beginnings(const StageState& stage, const Extents& iter_extents, int first_varying,
                     std::vector<ir::Expr>& values) {
  const int end = static_cast<int>(stage.loops.size());
  for (int i = first_varying; i < end; ++i) values[stage.loops[i]] = ir::Expr(0);
  const Extents spans = iter_spans(stage, iter_extents, first_varying, end, Overrun::Cut);
  fill(stage, iter_extents, values, &spans);
}

std::vector<ir::Expr> split_guards(const StageState& stage, const Extents& iter_extents,
                                   const std::vector<ir::Expr>& values, Loops which) {
  std::vector<ir::Expr> guards;
  for (const Relation& relation : stage.relations) {
    const auto* split = std::get_if<SplitRelation>(&relation);
    if (!split || (which == Loops::Reduce && !stage.iters[split->parent].reduce)) continue;
    std::int64_t covered = 1;
    for (int child : split->children) covered *= iter_extents[child];
    if (covered == iter_extents[split->parent]) continue;
    guards.push_back(values[split->parent] < ir::Expr(iter_extents[split->parent]));
  }
  return guards;
}

}  // namespace attune::schedule
