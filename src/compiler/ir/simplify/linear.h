// Linear forms: an index expression as constant + sum of coefficient * variable. What is not linear
// (division, minimum, loads …) has no form; callers then fall back to something safe.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "compiler/ir/nodes/expr.h"

namespace attune::ir {

struct Linear {
  std::vector<std::pair<std::string, std::int64_t>> terms;  // sorted by name, no zero coefficient
  std::int64_t constant = 0;

  std::int64_t coefficient(const std::string& name) const;
  Expr to_expr() const;
};

std::optional<Linear> linear_of(const Expr& e);
Linear add(const Linear& a, const Linear& b, std::int64_t scale_b = 1);

}  // namespace attune::ir
