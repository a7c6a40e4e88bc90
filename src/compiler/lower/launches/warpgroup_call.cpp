#include "compiler/lower/launches/warpgroup_call.h"

#include <fmt/format.h>

#include <optional>

#include "compiler/ir/nodes/rewrite.h"

namespace attune::lower {
namespace {

using ir::Expr;

// How far from the first element one lies, and what the intrinsic says of it: so many times lead,
// so many times group, and the rest.
struct Step {
  std::int64_t distance = 0, leads = 0, groups = 0, rest = 0;
};

class MatrixSteps {
 public:
  MatrixSteps(const ir::TensorIntrinsic& intrinsic, std::size_t operand, const Expr& place,
              const ir::Ranges& ranges)
      : places_(intrinsic.warpgroup->inputs[operand - 1],
                ir::dimension_names(intrinsic.program())[operand]),
        place_(place),
        ranges_(ranges) {}

  // One variable at `value` and all else where it is; false: the distance depends on that.
  bool add(const std::string& variable, std::int64_t value, std::int64_t step,
           const std::vector<std::int64_t>& index) {
    Step at;
    if (!variable.empty()) {
      const auto with = [&](std::int64_t number) {
        return ir::substitute(place_, {{variable, Expr(number)}});
      };
      const Expr distance = ir::simplify(with(value) - with(0), ranges_);
      const auto* number = ir::as_int(distance);
      if (!number) return false;
      at.distance = *number;
    }
    at.rest = places_.at(step, index, 0, 0);
    at.leads = places_.at(step, index, 1, 0) - at.rest;
    at.groups = places_.at(step, index, 0, 1) - at.rest;
    steps_.push_back(at);
    return true;
  }

  std::optional<MatrixDistances> solve() const {
    MatrixDistances found;
    for (const Step& s : steps_) {
      if (s.leads == 1 && s.groups == 0) found.lead = s.distance - s.rest;
      if (s.leads == 0 && s.groups == 1) found.group = s.distance - s.rest;
    }
    for (const Step& s : steps_) {
      if (s.distance != s.leads * found.lead + s.groups * found.group + s.rest) return {};
    }
    return found;
  }

 private:
  ir::MatrixPlaces places_;
  Expr place_;
  const ir::Ranges& ranges_;
  std::vector<Step> steps_;
};

}  // namespace

Result<MatrixDistances> matrix_distances(const ir::TensorIntrinsic& intrinsic, std::size_t operand,
                                         const Expr& place, const MatrixVariables& variables,
                                         const ir::Ranges& ranges) {
  const ir::SharedMatrix& matrix = intrinsic.warpgroup->inputs[operand - 1];
  const ir::Buffer input = intrinsic.program().inputs[operand - 1].buffer;
  const auto own = ir::own_steps(matrix, intrinsic.warpgroup->lanes);
  const std::vector<std::int64_t> origin(input->shape.size(), 0);
  const Error wrong = invalid(
      fmt::format("operand '{}' of intrinsic '{}' does not lie in groups of 8 rows of 16 bytes, as "
                  "a warpgroup reads it",
                  intrinsic.operands[operand].name, intrinsic.name),
      "give it the layout that docs/adr/0024-warpgroup-matrices.md shows");
  MatrixSteps steps(intrinsic, operand, place, ranges);
  for (std::size_t lane = 1; lane < own.size(); ++lane) {
    if (!steps.add(variables.lane, static_cast<std::int64_t>(lane), own[lane], origin)) {
      return wrong;
    }
  }
  for (std::size_t d = 0; d < origin.size(); ++d) {
    for (std::int64_t i = 1; i < input->shape[d]; ++i) {
      std::vector<std::int64_t> index = origin;
      index[d] = i;
      if (!steps.add(variables.loops[d], i, 0, index)) return wrong;
    }
  }
  const auto found = steps.solve();
  if (!found) return wrong;
  ir::Bindings start{{variables.lane, Expr(0)}};
  for (const std::string& loop : variables.loops) start[loop] = Expr(0);
  const std::int64_t unit = 16 / input->type.element_bytes();
  const Expr first = ir::substitute(place, start);
  if (found->lead % unit != 0 || found->group % unit != 0 ||
      !ir::prove(first % Expr(unit) == Expr(0), ranges)) {
    return wrong;
  }
  return *found;
}

}  // namespace attune::lower
