// What stages with the note `skip masked` leave out. A reduction whose terms are its neutral
// element unless a condition on their place holds,
//   sum over k of select(k <= i, e[i, k] * v[k], 0), where e[i, k] = select(k <= i, …, 0),
// needs neither the terms nor the condition where the condition fails: e says by itself that they
// are nothing. Its loop over k ends behind the last k that any i of the tile needs, instead of
// asking for each. What it reads of e is then needed no further than that either, and so on to what
// e is made of. Conditions are linear in the axes; each shortens one loop.
#pragma once

#include <vector>

#include "compiler/ir/simplify/linear.h"
#include "compiler/schedule/bounds.h"
#include "compiler/schedule/state.h"

namespace attune::lower {

struct Skip {
  ir::Linear inside;   // over axes of the stage by name; at least 0 where something is needed
  std::size_t axis;    // among axes and reduce axes: the one that is cut short
  int loop;            // an iter: the outermost loop over it
  std::int64_t step;   // how many values of the axis one iteration of the loop has
  std::int64_t slack;  // so many values more are needed by readers that take several at a time
};

// By stage. Empty for all that have no such note, or loops that cannot be cut.
std::vector<std::vector<Skip>> find_skips(const schedule::State& state,
                                          const std::vector<schedule::StageBounds>& bounds);

// The value of a reduction without the conditions that its skips stand for.
ir::Expr without_skipped(const ir::Expr& value, const ir::Stage& stage,
                         const std::vector<Skip>& skips);

// What its skips leave of a loop (an iter) of the stage, as begin and end.
struct LoopPart {
  ir::Expr begin, end;
};
LoopPart part_of_loop(int loop, const std::vector<Skip>& skips, const ir::Stage& stage,
                      const schedule::StageBounds& bounds);

}  // namespace attune::lower
