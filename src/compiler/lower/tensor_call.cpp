#include "compiler/lower/tensor_call.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "compiler/ir/nodes/rewrite.h"
#include "compiler/ir/simplify/linear.h"
#include "compiler/ir/text/names.h"
#include "compiler/lower/flatten.h"
#include "compiler/lower/launches/warp_call.h"
#include "compiler/lower/launches/warpgroup_call.h"

namespace attune::lower {
namespace {

using ir::Expr;

// The number of the axis that an index of the meaning is.
std::size_t axis_number(const ir::Stage& meaning, const Expr& index) {
  const auto* variable = ir::as<ir::Var>(index);
  CHECK(variable, "operands of an intrinsic are read at its axes");
  std::size_t number = 0;
  for (const auto* axes : {&meaning.axes, &meaning.reduce_axes}) {
    for (const ir::Axis& axis : *axes) {
      if (axis.name == variable->name) return number;
      ++number;
    }
  }
  CHECK(false, "operands of an intrinsic are read at its axes");
}

// For each dimension of each operand, the axis of the meaning that it is.
std::vector<std::vector<std::size_t>> dimensions(const ir::Program& program) {
  const ir::Stage& meaning = program.stages[0];
  std::vector<std::vector<std::size_t>> all(1 + program.inputs.size());
  for (std::size_t i = 0; i < meaning.axes.size(); ++i) all[0].push_back(i);
  ir::visit(meaning.values[0], [&](const Expr& e) {
    const auto* load = ir::as<ir::Load>(e);
    if (!load) return;
    for (std::size_t i = 0; i < program.inputs.size(); ++i) {
      if (program.inputs[i].buffer != load->buffer || !all[i + 1].empty()) continue;
      for (const Expr& index : load->index) all[i + 1].push_back(axis_number(meaning, index));
    }
  });
  return all;
}

// How far apart elements of an operand lie along each of its dimensions, if that is the same for
// all of them: by a linear form, or else element by element.
std::optional<std::vector<std::int64_t>> strides_of(const Expr& place, const TileAccesses& tile,
                                                    const std::vector<std::size_t>& dims,
                                                    const std::vector<std::int64_t>& extents,
                                                    const ir::Ranges& ranges) {
  std::vector<std::int64_t> strides(dims.size(), 0);
  if (const auto flat = ir::linear_of(place)) {
    for (std::size_t d = 0; d < dims.size(); ++d) {
      const std::string& variable = tile.variables[dims[d]];
      if (!variable.empty()) strides[d] = flat->coefficient(variable);
    }
    return strides;
  }
  std::vector<std::int64_t> point(dims.size(), 0);
  const auto at = [&] {
    ir::Bindings bindings;
    for (std::size_t d = 0; d < dims.size(); ++d) {
      const std::string& variable = tile.variables[dims[d]];
      if (!variable.empty()) bindings[variable] = Expr(point[d]);
    }
    return ir::simplify(ir::substitute(place, bindings), ranges);
  };
  const Expr first = at();
  const auto distance = [&]() -> std::optional<std::int64_t> {
    const Expr apart = ir::simplify(at() - first, ranges);
    const auto* elements = ir::as_int(apart);
    return elements ? std::optional(*elements) : std::nullopt;
  };
  for (std::size_t d = 0; d < dims.size(); ++d) {
    if (tile.variables[dims[d]].empty() || extents[dims[d]] == 1) continue;
    point[d] = 1;
    const auto step = distance();
    point[d] = 0;
    if (!step) return std::nullopt;
    strides[d] = *step;
  }
  for (bool more = true; more;) {
    std::int64_t wanted = 0;
    for (std::size_t d = 0; d < dims.size(); ++d) wanted += strides[d] * point[d];
    if (distance() != wanted) return std::nullopt;
    more = false;
    for (std::size_t d = dims.size(); d-- > 0 && !more;) {
      more = ++point[d] < extents[dims[d]];
      if (!more) point[d] = 0;
    }
  }
  return strides;
}

Status check_scope(const ir::TensorIntrinsic& intrinsic, const ir::IntrinsicOperand& operand,
                   const ir::BufferNode& buffer) {
  const auto& scopes = operand.scopes;
  if (std::find(scopes.begin(), scopes.end(), buffer.scope) != scopes.end()) return {};
  std::string names;
  for (ir::Scope scope : scopes) {
    names += fmt::format("{}{}", names.empty() ? "" : " or ", ir::to_string(scope));
  }
  return invalid(fmt::format("operand '{}' of intrinsic '{}' is '{}' in {} memory", operand.name,
                             intrinsic.name, buffer.name, ir::to_string(buffer.scope)),
                 fmt::format("it must be in {} memory", names));
}

// Of the axes of the intrinsic's meaning.
std::vector<std::int64_t> axis_extents(const ir::Stage& stage) {
  std::vector<std::int64_t> extents;
  for (const auto* axes : {&stage.axes, &stage.reduce_axes}) {
    for (const ir::Axis& axis : *axes) extents.push_back(axis.extent);
  }
  return extents;
}

// Where the tile begins; inputs are the same tile for all lanes that work together.
ir::Bindings start_of(const TileAccesses& tile, bool together) {
  ir::Bindings at_start;
  for (const std::string& variable : tile.variables) {
    if (!variable.empty()) at_start[variable] = Expr(0);
  }
  if (together) at_start[tile.lane] = Expr(0);
  return at_start;
}

// A bit for each operand that is rounded.
Expr rounded_operands(const TileAccesses& tile) {
  std::int64_t rounded = 0;
  for (std::size_t i = 0; i < tile.rounded.size(); ++i) rounded |= tile.rounded[i] ? 1 << i : 0;
  return Expr(rounded);
}

}  // namespace

Result<ir::Stmt> make_tensor_call(const ir::TensorIntrinsic& intrinsic, const TileAccesses& tile,
                                  const ir::Ranges& ranges) {
  const ir::Program program = intrinsic.program();
  const auto dims = dimensions(program);
  const std::vector<std::int64_t> extents = axis_extents(program.stages[0]);
  const bool together = intrinsic.lanes() > 1;
  const ir::Bindings at_start = start_of(tile, together);
  std::vector<Expr> arguments;
  for (std::size_t i = 0; i < tile.operands.size(); ++i) {
    const ir::IntrinsicOperand& operand = intrinsic.operands[i];
    const auto* load = ir::as<ir::Load>(tile.operands[i]);
    CHECK(load, "operands are loads");
    ATTUNE_RETURN_IF_ERROR(check_scope(intrinsic, operand, *load->buffer));
    const auto wrong = [&](const char* why) {
      return invalid(fmt::format("operand '{}' of intrinsic '{}', '{}', {}", operand.name,
                                 intrinsic.name, load->buffer->name, why),
                     "choose another layout for it");
    };
    Expr place = ir::simplify(flat_index(*load->buffer, load->index), ranges);
    std::int64_t step = 0;
    if (together && i == 0 && ir::uses_var(place, tile.lane)) {
      return wrong("is at other places in other lanes of a warp");
    }
    if (intrinsic.warp && i > 0) {
      ATTUNE_ASSIGN(step, lane_step(intrinsic, i, place, tile.lane, ranges));
      place = ir::simplify(ir::substitute(place, {{tile.lane, Expr(0)}}), ranges);
    }
    std::vector<Expr> start;
    for (const Expr& index : load->index) {
      start.push_back(ir::simplify(ir::substitute(index, at_start), ranges));
    }
    arguments.push_back(ir::load(load->buffer, std::move(start)));
    if (intrinsic.warpgroup && i > 0) {
      std::vector<std::string> variables;
      for (const std::size_t axis : dims[i]) variables.push_back(tile.variables[axis]);
      ATTUNE_ASSIGN(const MatrixDistances matrix,
                    matrix_distances(intrinsic, i, place, {tile.lane, variables}, ranges));
      arguments.emplace_back(matrix.lead);
      arguments.emplace_back(matrix.group);
      continue;
    }
    const auto strides = strides_of(place, tile, dims[i], extents, ranges);
    if (!strides) return wrong("does not lie at even distances");
    for (std::size_t d = 0; d < dims[i].size(); ++d) {
      const std::string& variable = tile.variables[dims[i][d]];
      const std::int64_t stride = (*strides)[d];
      const bool last = d + 1 == dims[i].size();
      if (operand.dense_rows && last && !variable.empty() && stride != 1) {
        return wrong("has rows whose elements do not lie side by side");
      }
      arguments.push_back(Expr(stride));
    }
    if (intrinsic.warp && i > 0) arguments.push_back(Expr(step));
  }
  if (!intrinsic.rounding.empty()) arguments.push_back(rounded_operands(tile));
  return ir::evaluate(ir::opaque(std::string(intrinsic.name), ir::kI32, std::move(arguments)));
}

}  // namespace attune::lower
