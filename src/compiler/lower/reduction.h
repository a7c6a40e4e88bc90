// What a stage stores: plain values, or one step of its reduction.
#pragma once

#include <vector>

#include "compiler/ir/nodes/stmt.h"
#include "compiler/ir/nodes/tensor_expr.h"
#include "compiler/schedule/state.h"

namespace attune::lower {

struct UpdateParts {
  ir::Stmt body;
  std::vector<ir::Expr> guards;  // terms that are skipped because they add nothing
};

// The statement of one iteration. With `first_when_zero`, the reduction starts by itself in the
// iteration in which all these loop variables are 0, unless terms are skipped.
UpdateParts make_update(ir::Reduction reduction, const std::vector<ir::Buffer>& buffers,
                        const std::vector<ir::Expr>& index, const std::vector<ir::Expr>& values,
                        const std::vector<ir::Expr>* first_when_zero);

// Whether the stage has no initial loop: it is no reduction, or it starts by a select.
bool starts_by_itself(const schedule::StageState& stage);

// The value a reduction starts from; `carried` is the index of a pair.
ir::Expr initial_value(ir::Reduction reduction, ir::DType type, bool carried);

// The body where all conditions hold; one that reads memory is only looked at where those before it
// hold.
ir::Stmt guarded(const std::vector<ir::Expr>& conditions, ir::Stmt body);

}  // namespace attune::lower
