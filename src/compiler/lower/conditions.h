// Conditions as linear forms: a comparison of index expressions is "form >= 0".
#pragma once

#include <optional>
#include <vector>

#include "compiler/ir/nodes/stmt.h"
#include "compiler/ir/simplify/linear.h"
#include "compiler/ir/simplify/simplify.h"

namespace attune::lower {

// The parts of a conjunction.
std::vector<ir::Expr> conjuncts(const ir::Expr& condition);
// Empty list: empty expression.
ir::Expr conjunction(const std::vector<ir::Expr>& conditions);
// The value where all conditions hold, and zero elsewhere.
ir::Expr zero_unless(const std::vector<ir::Expr>& conditions, const ir::Expr& value);

// What a loop's body writes may change such a condition, and reading may need the guards around it.
bool reads_memory(const ir::Expr& condition);

// Lt, Le, Gt, Ge of linear index expressions; nothing for all else.
std::optional<ir::Linear> at_least_zero(const ir::Expr& condition);

}  // namespace attune::lower
