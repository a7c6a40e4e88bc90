#include "tuner/templates/launches/product_facts.h"

#include <algorithm>
#include <set>
#include <variant>

#include "compiler/ir/nodes/rewrite.h"
#include "compiler/ir/simplify/linear.h"
#include "compiler/ir/simplify/simplify.h"
#include "compiler/ir/tensor_intrinsics/tensor_intrinsic.h"
#include "tuner/templates/dataflow.h"
#include "tuner/templates/program_facts.h"

namespace attune::templates {
namespace {

constexpr std::int64_t kMostLanes = 16;

// The load that an expression is, conversions and roundings of it aside.
const ir::Load* load_of(const ir::Expr& value) {
  const ir::Expr* at = &value;
  while (const auto* conversion = ir::as<ir::Cast>(*at)) at = &conversion->value;
  if (const auto* load = ir::as<ir::Load>(*at)) return load;
  for (const ir::TensorIntrinsic& intrinsic : ir::tensor_intrinsics()) {
    if (const ir::Expr rounded = intrinsic.before_rounding(*at)) return ir::as<ir::Load>(rounded);
  }
  return nullptr;
}

bool uses(const ir::Load& load, const std::string& axis) {
  return std::any_of(load.index.begin(), load.index.end(),
                     [&](const ir::Expr& e) { return ir::uses_var(e, axis); });
}

// Axes by whom they move: the left operand, the right one, both of them in the result, or both in
// the sum.
struct Roles {
  std::vector<ir::Axis> m, n, batch, k;
};

std::optional<Roles> roles_of(const ir::Stage& stage, const ir::Load& left, const ir::Load& right) {
  Roles roles;
  for (const ir::Axis& axis : stage.axes) {
    const bool by_left = uses(left, axis.name), by_right = uses(right, axis.name);
    (by_left == by_right ? roles.batch : by_left ? roles.m : roles.n).push_back(axis);
  }
  for (const ir::Axis& axis : stage.reduce_axes) {
    if (!uses(left, axis.name) || !uses(right, axis.name)) return std::nullopt;
    roles.k.push_back(axis);
  }
  // The only row of a product, which neither operand moves with.
  const auto single = std::find_if(roles.batch.begin(), roles.batch.end(),
                                   [](const ir::Axis& axis) { return axis.extent == 1; });
  if (roles.m.empty() && single != roles.batch.end()) {
    roles.m.push_back(*single);
    roles.batch.erase(single);
  }
  if (roles.m.empty() || roles.n.empty() || roles.k.empty()) return std::nullopt;
  return roles;
}

bool uses_any(const ir::Expr& index, const std::vector<ir::Axis>& axes) {
  return std::any_of(axes.begin(), axes.end(),
                     [&](const ir::Axis& axis) { return ir::uses_var(index, axis.name); });
}

// Nothing when a dimension mixes roles, as the rows of a convolution's image do.
std::optional<ProductOperand> operand_of(const ir::Load& load, const std::vector<ir::Axis>& own,
                                         const std::vector<ir::Axis>& sums) {
  ProductOperand operand{.buffer = load.buffer, .sums = {}, .own = {}};
  for (const ir::Expr& index : load.index) {
    operand.sums.push_back(uses_any(index, sums));
    operand.own.push_back(uses_any(index, own));
    if (operand.sums.back() && operand.own.back()) return std::nullopt;
  }
  return operand;
}

// The longest; the last of those that are equally long.
const ir::Axis& longest(const std::vector<ir::Axis>& axes) {
  const ir::Axis* found = &axes.front();
  for (const ir::Axis& axis : axes) {
    if (axis.extent >= found->extent) found = &axis;
  }
  return *found;
}

std::int64_t product_of_extents(const std::vector<ir::Axis>& axes) {
  std::int64_t product = 1;
  for (const ir::Axis& axis : axes) product *= axis.extent;
  return product;
}

// Takes the last axis for a lane where it is short and stands beside others.
void take_lane(std::vector<ir::Axis>& axes, std::string& name, std::int64_t& extent) {
  if (axes.size() < 2 || axes.back().extent > kMostLanes || axes.back().extent < 2) return;
  name = axes.back().name;
  extent = axes.back().extent;
  axes.pop_back();
}

int dimension_of(const ir::Load& load, const std::string& axis) {
  for (std::size_t d = 0; d < load.index.size(); ++d) {
    const auto* variable = ir::as<ir::Var>(load.index[d]);
    if (variable && variable->name == axis) return static_cast<int>(d);
  }
  return -1;
}

// The dimension that moves with the axis, perhaps among others.
int dimension_with(const ir::Load& load, const std::string& axis) {
  for (std::size_t d = 0; d < load.index.size(); ++d) {
    if (ir::uses_var(load.index[d], axis)) return static_cast<int>(d);
  }
  return -1;
}

// What the axis is divided by where the index is axis / a, axis % b or axis / a % b: how many steps
// each of its parts takes to start again.
void add_turns(const ir::Expr& index, const std::string& axis, std::set<std::int64_t>& turns) {
  ir::visit(index, [&](const ir::Expr& e) {
    const auto* outer = ir::as<ir::Binary>(e);
    if (!outer || (outer->op != ir::BinOp::Div && outer->op != ir::BinOp::Mod)) return;
    const auto* divisor = ir::as_int(outer->rhs);
    if (!divisor) return;
    std::int64_t steps = *divisor;
    const ir::Expr* of = &outer->lhs;
    if (const auto* inner = ir::as<ir::Binary>(*of); inner && inner->op == ir::BinOp::Div) {
      const auto* factor = ir::as_int(inner->rhs);
      if (!factor) return;
      steps *= *factor;
      of = &inner->lhs;
    }
    const auto* variable = ir::as<ir::Var>(*of);
    if (variable && variable->name == axis && steps > 1) turns.insert(steps);
  });
}

// Of the stage that computes the operand as it is fetched.
std::vector<std::int64_t> turns_of(const ir::Program& program, const ProductOperand& operand) {
  std::set<std::int64_t> turns;
  const ir::Stage* stage = program.find_stage(operand.buffer->name);
  if (!stage || operand.steps < 0) return {};
  const std::string& axis = stage->axes[static_cast<std::size_t>(operand.steps)].name;
  for (const ir::Expr& value : stage->values) {
    ir::visit(value, [&](const ir::Expr& e) {
      const auto* load = ir::as<ir::Load>(e);
      if (!load) return;
      for (const ir::Expr& index : load->index) add_turns(index, axis, turns);
    });
  }
  return {turns.begin(), turns.end()};
}

}  // namespace

std::optional<ProductFacts> product_of(const ir::Program& program, const ir::Stage& stage) {
  if (stage.reduction != ir::Reduction::Sum || stage.outputs.size() != 1) return std::nullopt;
  const auto* value = ir::as<ir::Binary>(stage.values[0]);
  if (!value || value->op != ir::BinOp::Mul) return std::nullopt;
  const ir::Load* left = load_of(value->lhs);
  const ir::Load* right = load_of(value->rhs);
  if (!left || !right || left->buffer == right->buffer) return std::nullopt;
  // Weights are the right one.
  const auto constants = constants_of(program);
  if (constants.count(left->buffer) > 0) std::swap(left, right);
  auto roles = roles_of(stage, *left, *right);
  if (!roles) return std::nullopt;
  const auto left_operand = operand_of(*left, roles->m, roles->k);
  const auto right_operand = operand_of(*right, roles->n, roles->k);
  if (!left_operand || !right_operand) return std::nullopt;
  ProductFacts facts{.stage = stage.name, .left = *left_operand, .right = *right_operand};
  facts.multiplications = static_cast<double>(product_of_extents(stage.axes)) *
                          static_cast<double>(product_of_extents(stage.reduce_axes));
  facts.others = product_of_extents(stage.axes);
  facts.other_k = product_of_extents(stage.reduce_axes);
  take_lane(roles->n, facts.n_lane, facts.n_lanes);
  take_lane(roles->k, facts.k_lane, facts.k_lanes);
  const ir::Axis &m = longest(roles->m), &n = longest(roles->n), &k = longest(roles->k);
  facts.m_tile = m.name, facts.n_tile = n.name, facts.k_tile = k.name;
  facts.m = m.extent, facts.n = n.extent, facts.k = k.extent;
  facts.others /= facts.m * facts.n * facts.n_lanes;
  facts.other_k /= facts.k * facts.k_lanes;
  facts.element_bytes = left->buffer->type.bytes();
  facts.left.tile = dimension_with(*left, facts.m_tile);
  facts.right.tile = dimension_with(*right, facts.n_tile);
  for (const auto& [operand, load] : {std::pair(&facts.left, left), {&facts.right, right}}) {
    operand->lane = facts.k_lane.empty() ? -1 : dimension_of(*load, facts.k_lane);
    operand->steps = dimension_of(*load, facts.k_tile);
  }
  facts.turns = turns_of(program, facts.left);
  return facts;
}

namespace {

std::optional<ProductFacts> find_main_product(const ir::Program& program) {
  const auto constants = constants_of(program);
  std::optional<ProductFacts> found;
  for (const ir::Stage& stage : program.stages) {
    if (!reduces(stage) || constants.count(stage.outputs[0]) > 0) continue;
    auto product = product_of(program, stage);
    if (!product || (found && found->multiplications >= product->multiplications)) continue;
    found = std::move(product);
  }
  return found;
}

}  // namespace

std::optional<ProductFacts> main_product(const space::Subject& subject) {
  return *subject.findings.of<std::optional<ProductFacts>>(
      subject.program, std::monostate(), [&] { return find_main_product(subject.program); });
}

namespace {

// The axes of which an index is a number in mixed radix, the slowest first.
std::optional<schedule::Names> digits_of(const ir::Stage& host, const ir::Expr& index,
                                         std::int64_t extent) {
  const auto form = ir::linear_of(ir::simplify(index));
  if (!form || form->constant != 0) return std::nullopt;
  auto terms = form->terms;
  std::sort(terms.begin(), terms.end(),
            [](const auto& a, const auto& b) { return a.second > b.second; });
  std::int64_t radix = 1;
  schedule::Names names;
  for (auto term = terms.rbegin(); term != terms.rend(); ++term) {
    if (term->second != radix) return std::nullopt;
    radix *= extent_of(host, term->first);
    names.insert(names.begin(), term->first);
  }
  if (radix != extent) return std::nullopt;
  return names;
}

}  // namespace

std::optional<std::vector<schedule::Names>> axes_read_at(const ir::Stage& host,
                                                         const ir::Buffer& buffer) {
  std::optional<std::vector<schedule::Names>> found;
  bool same = true;
  for (const ir::Expr& value : host.values) {
    ir::visit(value, [&](const ir::Expr& e) {
      const auto* load = ir::as<ir::Load>(e);
      if (!load || load->buffer != buffer) return;
      std::vector<schedule::Names> axes;
      for (std::size_t d = 0; d < load->index.size(); ++d) {
        auto digits = digits_of(host, load->index[d], buffer->shape[d]);
        same &= digits.has_value();
        if (digits) axes.push_back(std::move(*digits));
      }
      same &= !found || *found == axes;
      found = std::move(axes);
    });
  }
  if (!found || !same) return std::nullopt;
  std::multiset<std::string> used, wanted;
  for (const schedule::Names& names : *found) used.insert(names.begin(), names.end());
  // An axis of one element may be left out, and is nobody's loss.
  for (const ir::Axis& axis : host.axes) {
    if (axis.extent > 1 || used.count(axis.name) > 0) wanted.insert(axis.name);
  }
  if (used != wanted) return std::nullopt;
  return found;
}

}  // namespace attune::templates
