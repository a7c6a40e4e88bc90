// The hardware axes of launches. A root stage with all that is computed within it is one launch; a
// loop of any of its stages that is bound to an axis has the axis's variable instead of one of its
// own, and the axis is as long as the longest of these loops. Threads that a stage has no work for
// stand aside by conditions on its own statements, so that they still meet the others at barriers
// and fetch what is shared.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "compiler/ir/nodes/rewrite.h"
#include "compiler/ir/simplify/simplify.h"
#include "compiler/schedule/bounds.h"

namespace attune::lower {

class LaunchAxes {
 public:
  LaunchAxes(const schedule::State& state, const std::vector<schedule::StageBounds>& bounds);

  // Whether the state is for a device with blocks and threads.
  bool any() const { return any_; }
  // Variables of bound loops, as those of their axes.
  const ir::Bindings& variables() const { return variables_; }
  ir::Ranges with_ranges(ir::Ranges ranges) const;
  // Under which conditions a thread takes part in computing a stage.
  std::vector<ir::Expr> conditions(int stage) const;
  // A stage's threads along x, neighbours of which make a warp; an empty name where there are none.
  struct Lanes {
    std::string variable;
    std::int64_t count = 1;
  };
  Lanes lanes(int stage) const;
  // The nest of a root stage inside of the loops over the axes of its launch, blocks first.
  ir::Stmt launch(int root, ir::Stmt nest) const;

 private:
  struct Axis {
    std::string variable;
    std::int64_t extent = 1;
  };
  using Axes = std::map<std::string, Axis, std::less<>>;

  const Axes& axes_of(int stage) const;
  std::vector<ir::Expr> within_extents(int stage) const;
  // By which conditions of the stages around it a thread has no use for a stage of its own.
  std::vector<ir::Expr> inherited(int stage) const;
  bool for_all_threads(int stage) const;

  const schedule::State& state_;
  const std::vector<schedule::StageBounds>& bounds_;
  bool any_;
  std::map<int, Axes> launches_;  // by root stage
  ir::Bindings variables_;
};

}  // namespace attune::lower
