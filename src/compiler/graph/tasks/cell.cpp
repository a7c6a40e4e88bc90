#include "compiler/graph/tasks/cell.h"

#include <algorithm>
#include <map>
#include <set>

#include "base/check.h"
#include "base/hash.h"
#include "compiler/graph/tasks/movement.h"
#include "compiler/ir/nodes/rewrite.h"
#include "compiler/ir/simplify/simplify.h"
#include "compiler/ir/text/print.h"

namespace attune::graph {
namespace {

using ops::OpKind;

// Kernels with more nodes than this take long to compile.
constexpr std::size_t kLargestCell = 48;

// Where a value of a cell stands: all columns, those of one part, or what several of these were
// stacked to, with which a cell ends.
enum class Role { Whole, Part, Stack };

class CellFinder {
 public:
  explicit CellFinder(const Graph& graph) : graph_(graph), consumers_(consumers(graph)) {
    taken_.resize(graph.nodes.size(), false);
  }

  std::vector<int> from(int product) {
    if (taken_[static_cast<std::size_t>(product)] || !is_product(node(product))) return {};
    roles_ = {{node(product).outputs[0], Role::Whole}};
    members_ = {product};
    parts_.clear();
    collect(product);
    while (members_.size() > 1 && !has_one_result()) leave(*members_.rbegin());
    if (!is_complete(product)) return {};
    absorb(product);
    for (const int member : members_) taken_[static_cast<std::size_t>(member)] = true;
    return {members_.begin(), members_.end()};
  }

 private:
  const Node& node(int n) const { return graph_.nodes[static_cast<std::size_t>(n)]; }
  const std::vector<std::int64_t>& shape(ValueId id) const { return graph_.value(id).type.shape; }
  const std::vector<int>& readers(ValueId id) const {
    return consumers_[static_cast<std::size_t>(id)];
  }

  bool is_product(const Node& n) const {
    if (n.op != "matmul" || n.inputs.size() != 2) return false;
    const Value& weight = graph_.value(n.inputs[1]);
    const Value& result = graph_.value(n.outputs[0]);
    return weight.constant != nullptr && weight.type.rank() == 2 && result.type.rank() == 2 &&
           result.type.is_static() && result.type.elements() > 0 && result.type.dtype.is_float() &&
           !result.layout.is_blocked();
  }

  // Whether a slice takes one of the equal parts of all columns.
  bool is_part(const Node& n) const {
    const auto& from = shape(n.inputs[0]);
    const auto& to = shape(n.outputs[0]);
    const ops::OpCall call = call_of(graph_, n);
    const std::int64_t start = call.integers("starts")[1], columns = to[1];
    const bool fits = columns > 0 && to[0] == from[0] && columns < from[1] &&
                      call.integers("steps")[1] == 1 && from[1] % columns == 0 &&
                      start % columns == 0;
    return fits && (parts_.empty() || shape(parts_.begin()->second)[1] == columns);
  }

  // What a node that reads values of the cell would be in it.
  std::optional<Role> role_of(const Node& n) const {
    if (n.outputs.size() != 1 || graph_.value(n.outputs[0]).layout.is_blocked()) return {};
    std::set<Role> read;
    for (const ValueId id : n.inputs) {
      if (const auto known = roles_.find(id); known != roles_.end()) read.insert(known->second);
    }
    if (read.size() != 1 || read.count(Role::Stack) > 0) return {};
    const Role role = *read.begin();
    if (role == Role::Whole && n.op == "slice") {
      return is_part(n) ? std::optional(Role::Part) : std::nullopt;
    }
    if (role == Role::Part && n.op == "stack") {
      const bool all = std::all_of(n.inputs.begin(), n.inputs.end(),
                                   [&](ValueId id) { return roles_.count(id) > 0; });
      return all ? std::optional(Role::Stack) : std::nullopt;
    }
    if (operator_of(n).kind != OpKind::Elementwise) return {};
    const ValueId like =
        role == Role::Whole ? node(*members_.begin()).outputs[0] : parts_.begin()->second;
    return shape(n.outputs[0]) == shape(like) ? std::optional(role) : std::nullopt;
  }

  void collect(int product) {
    const auto& first = readers(node(product).outputs[0]);
    std::set<int> next(first.begin(), first.end());
    while (!next.empty() && members_.size() < kLargestCell) {
      const int n = *next.begin();
      next.erase(next.begin());
      const auto role = role_of(node(n));
      if (!role || taken_[static_cast<std::size_t>(n)]) continue;
      const ValueId result = node(n).outputs[0];
      if (node(n).op == "slice") parts_.emplace(start_of(n), result);
      roles_.emplace(result, *role);
      members_.insert(n);
      next.insert(readers(result).begin(), readers(result).end());
    }
  }

  std::int64_t start_of(int slice) const {
    return call_of(graph_, node(slice)).integers("starts")[1];
  }

  bool is_read_outside(ValueId id) const {
    return std::count(graph_.outputs.begin(), graph_.outputs.end(), id) > 0 ||
           std::any_of(readers(id).begin(), readers(id).end(),
                       [&](int reader) { return members_.count(reader) == 0; });
  }

  // Whether only what the last node gives is read by others: nothing that the cell reads can then
  // depend on it.
  bool has_one_result() const {
    return std::all_of(members_.begin(), members_.end(), [&](int member) {
      return is_read_outside(node(member).outputs[0]) == (member == *members_.rbegin());
    });
  }

  void leave(int member) {
    members_.erase(member);
    const ValueId result = node(member).outputs[0];
    roles_.erase(result);
    std::erase_if(parts_, [&](const auto& part) { return part.second == result; });
  }

  // All parts are used, and there are several.
  bool is_complete(int product) const {
    if (parts_.size() < 2 || roles_.at(node(*members_.rbegin()).outputs[0]) == Role::Whole) {
      return false;
    }
    const std::int64_t all = shape(node(product).outputs[0])[1];
    return all == static_cast<std::int64_t>(parts_.size()) * shape(parts_.begin()->second)[1];
  }

  // Arithmetic on a few values that only the cell reads, such as which sequences have ended, and
  // movement of what is computed before, such as the gates of one step of a sequence.
  bool may_enter(const Node& n) const {
    return operator_of(n).kind == OpKind::Elementwise || n.op == "gather" || is_movement(graph_, n);
  }

  void absorb(int product) {
    const std::int64_t most = graph_.value(node(product).outputs[0]).type.elements();
    const auto& factors = node(product).inputs;
    std::set<ValueId> multiplied(factors.begin(), factors.end());
    for (int n = *members_.rbegin(); n >= 0 && members_.size() < kLargestCell; --n) {
      if (members_.count(n) > 0 || taken_[static_cast<std::size_t>(n)]) continue;
      if (!may_enter(node(n))) continue;
      const ValueId id = node(n).outputs[0];
      const Value& result = graph_.value(id);
      const bool fits = result.type.is_static() && result.type.elements() <= most &&
                        !result.layout.is_blocked() && !readers(id).empty();
      // A product reads through movement alone; anything else it finds in memory.
      const bool is_factor = multiplied.count(id) > 0;
      if (!fits || is_read_outside(id) || (is_factor && !is_movement(graph_, node(n)))) continue;
      members_.insert(n);
      if (is_factor) multiplied.insert(node(n).inputs[0]);
    }
  }

  const Graph& graph_;
  std::vector<std::vector<int>> consumers_;
  std::vector<bool> taken_;
  std::set<int> members_;  // of the cell that is being found
  std::map<ValueId, Role> roles_;
  std::map<std::int64_t, ValueId> parts_;  // by where they start
};

}  // namespace

std::vector<std::vector<int>> find_cells(const Graph& graph) {
  std::vector<std::vector<int>> cells;
  CellFinder finder(graph);
  for (std::size_t n = 0; n < graph.nodes.size(); ++n) {
    std::vector<int> cell = finder.from(static_cast<int>(n));
    if (!cell.empty()) cells.push_back(std::move(cell));
  }
  return cells;
}

std::optional<std::int64_t> columns_of_part(const Graph& graph, const Group& group) {
  std::set<ValueId> behind;  // the product, and what is made of it
  for (const int member : group.nodes) {
    const Node& node = graph.nodes[static_cast<std::size_t>(member)];
    const bool reads = std::any_of(node.inputs.begin(), node.inputs.end(),
                                   [&](ValueId id) { return behind.count(id) > 0; });
    if (reads && node.op == "slice") return graph.value(node.outputs[0]).type.shape.back();
    if (reads || node.op == "matmul") behind.insert(node.outputs[0]);
  }
  return std::nullopt;
}

namespace {

// The program with its columns on two axes, `g` and what they had before.
ir::Program with_parts(const ir::Program& program, std::int64_t columns) {
  const std::int64_t all = program.find_stage("anchor")->axes.back().extent;
  CHECK(all % columns == 0, "the parts of a cell are equal");
  const ir::Expr size(columns);
  ir::Program result{"cell", program.inputs, {}, program.outputs};
  std::vector<std::pair<ir::Buffer, ir::Buffer>> apart;  // old and new
  for (ir::Stage stage : program.stages) {
    const bool is_whole = stage.axes.size() == 2 && stage.axes.back().extent == all;
    ir::Bindings bindings;
    if (is_whole) {
      ir::Axis& last = stage.axes.back();
      bindings[last.name] = ir::var("g") * size + ir::axis_var(last);
      last.extent = columns;
      stage.axes.insert(stage.axes.begin() + 1, {"g", all / columns});
    }
    ir::Ranges ranges;
    for (const auto* axes : {&stage.axes, &stage.reduce_axes}) {
      for (const ir::Axis& axis : *axes) {
        ranges = ranges.with(axis.name, ir::Interval::extent(axis.extent));
      }
    }
    for (ir::Expr& value : stage.values) {
      value = ir::substitute(value, bindings);
      for (const auto& [old, fresh] : apart) {
        value = ir::replace_loads(value, old, [&, &to = fresh](const auto& index) {
          return ir::load(to, {index[0], index[1] / size, index[1] % size});
        });
      }
      value = ir::simplify(value, ranges);
    }
    if (is_whole) {
      const ir::Buffer old = stage.outputs[0];
      stage.outputs[0] =
          ir::make_buffer(old->name, old->type, {old->shape[0], all / columns, columns});
      apart.emplace_back(old, stage.outputs[0]);
    }
    result.stages.push_back(std::move(stage));
  }
  return result;
}

}  // namespace

Result<Task> cell(Task whole, std::int64_t columns) {
  whole.op.program = with_parts(whole.op.program, columns);
  whole.op.alternatives.clear();
  whole.name = "cell" + whole.name.substr(std::min(whole.name.find(' '), whole.name.size()));
  ATTUNE_RETURN_IF_ERROR(ir::verify(whole.op.program));
  whole.key = hex64(ir::hash(whole.op.program));
  return whole;
}

}  // namespace attune::graph
