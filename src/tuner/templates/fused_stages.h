// What a graph fused around an anchor, found from who reads whom. Stages behind the anchor
// (epilogues: bias, residual addition, activation) and beside it are inlined into the output, so
// that they are applied to accumulators while those are still in registers. Stages before it
// (prologues) are inlined where they only move elements, and are computed once ahead of the anchor
// otherwise. What depends on constants alone is prepared ahead of time and left as it is.
#pragma once

#include <string>
#include <vector>

#include "compiler/ir/nodes/tensor_expr.h"
#include "compiler/target/target.h"
#include "tuner/templates/dataflow.h"
#include "tuner/templates/plain_loops.h"

namespace attune::templates {

class FusedStages {
 public:
  // `own` names the stages before and behind the anchor that the template schedules itself.
  FusedStages(const ir::Program& program, const std::vector<std::string>& own = {});

  // Whether all that a template does not schedule itself can be placed as said above.
  bool placeable() const { return placeable_; }
  // Before the steps of the template.
  void place(TraceWriter& t, const target::Target& target) const;
  // Values behind the anchor that are used many times and long to compute are computed at `loop` of
  // the output instead of being inlined; after the loops of the output were made.
  void attach(TraceWriter& t, const target::Target& target, const std::string& loop) const;

 private:
  enum class Role { Constant, Before, Anchor, Behind, Own, Output };
  std::vector<Role> roles(const Reads& reads) const;
  void find_attached(const std::vector<Role>& roles, const Reads& reads);

  const ir::Program& program_;
  std::vector<std::string> own_;
  std::vector<const ir::Stage*> inlined_, computed_, attached_;
  bool placeable_ = true;
};

}  // namespace attune::templates
