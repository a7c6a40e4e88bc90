#include "compiler/graph/passes/rewriter.h"

#include <fmt/format.h>

#include <algorithm>

#include "compiler/graph/builder.h"

namespace attune::graph {
namespace {

// Constants with more elements are computed by compiled kernels later.
constexpr std::int64_t kLargestFolded = 1 << 12;

void erase_first(std::vector<int>& list, int element) {
  const auto found = std::find(list.begin(), list.end(), element);
  if (found != list.end()) list.erase(found);
}

}  // namespace

Rewriter::Rewriter(const Graph& graph)
    : name_(graph.name),
      values_(graph.values.begin(), graph.values.end()),
      nodes_(graph.nodes.begin(), graph.nodes.end()),
      inputs_(graph.inputs),
      outputs_(graph.outputs),
      alive_(graph.nodes.size(), true),
      producer_(producers(graph)),
      users_(consumers(graph)),
      output_uses_(graph.values.size(), 0) {
  for (const ValueId id : outputs_) ++output_uses_[index(id)];
  for (int n = node_count() - 1; n >= 0; --n) erase_if_unused(n);
}

const Node* Rewriter::maker(ValueId id) const {
  const int number = producer(id);
  return number < 0 ? nullptr : &node(number);
}

ops::OpCall Rewriter::call(const Node& node) const {
  ops::OpCall result{node.op, node.attributes, {}, {}, {}, {}};
  for (const ValueId id : node.inputs) {
    const bool present = id != kNoValue;
    result.present.push_back(present);
    result.inputs.push_back(present ? type(id) : TensorType{});
    result.constants.push_back(constant_of(id));
  }
  for (const auto& body : node.bodies) {
    std::vector<TensorType>& types = result.bodies.emplace_back();
    for (const ValueId id : body->outputs) types.push_back(body->value(id).type);
  }
  return result;
}

std::string Rewriter::free_name(std::string_view wanted) {
  if (names_.empty()) {
    for (const Value& known : values_) names_.insert(known.name);
  }
  std::string name(wanted);
  for (int number = 1; !names_.insert(name).second; ++number) {
    name = fmt::format("{}.{}", wanted, number);
  }
  return name;
}

ValueId Rewriter::new_value(std::string_view name, TensorType type, ConstantPtr constant) {
  const auto id = static_cast<ValueId>(values_.size());
  values_.push_back({free_name(name), std::move(type), std::move(constant)});
  producer_.push_back(-1);
  users_.emplace_back();
  output_uses_.push_back(0);
  return id;
}

void Rewriter::add_user(ValueId id, int node) {
  if (id == kNoValue) return;
  std::vector<int>& readers = users_[index(id)];
  if (std::find(readers.begin(), readers.end(), node) == readers.end()) readers.push_back(node);
}

void Rewriter::remove_user(ValueId id, int node) {
  if (id != kNoValue) erase_first(users_[index(id)], node);
}

ValueId Rewriter::add_constant(ConstantPtr constant, std::string_view name) {
  TensorType type = constant->type;
  return new_value(name, std::move(type), std::move(constant));
}

ValueId Rewriter::add(std::string_view op, std::vector<ValueId> inputs, Attributes attributes,
                      std::string_view name) {
  Node made{std::string(op), std::string(name), std::move(inputs), {}, std::move(attributes)};
  const std::string_view named = name.empty() ? op : name;
  const ops::OpCall call = this->call(made);
  const ops::OpDef& def = operator_of(made);
  auto types = def.infer(call);
  CHECK(types.ok(), fmt::format("a pass made an ill-typed '{}': {}", op, types.error().message));
  CHECK(types->size() == 1, fmt::format("'{}' has several outputs", op));
  const auto folded = fold(call, *types, {.largest_result = kLargestFolded});
  if (folded.ok() && *folded) return add_constant((*folded)->front(), named);
  const ValueId output = new_value(named, std::move(types->front()), nullptr);
  made.outputs = {output};
  push_node(std::move(made));
  return output;
}

std::vector<ValueId> Rewriter::add_copy(const Graph& graph, const Node& node,
                                        std::vector<ValueId> inputs) {
  Node copy{node.op, node.name, std::move(inputs), {}, node.attributes, node.bodies};
  for (const ValueId id : node.outputs) {
    copy.outputs.push_back(new_value(graph.value(id).name, graph.value(id).type, nullptr));
  }
  std::vector<ValueId> outputs = copy.outputs;
  push_node(std::move(copy));
  return outputs;
}

ValueId Rewriter::add_identity(ValueId id) {
  const ValueId same = new_value(value(id).name, type(id), nullptr);
  push_node({"identity", value(id).name, {id}, {same}});
  return same;
}

void Rewriter::push_node(Node node) {
  for (const ValueId id : node.outputs) producer_[index(id)] = node_count();
  for (const ValueId id : node.inputs) add_user(id, node_count());
  nodes_.push_back(std::move(node));
  alive_.push_back(true);
}

void Rewriter::erase_if_unused(int node) {
  std::vector<int> candidates{node};
  while (!candidates.empty()) {
    const int number = candidates.back();
    candidates.pop_back();
    const Node& candidate = this->node(number);
    const bool used =
        std::any_of(candidate.outputs.begin(), candidate.outputs.end(), [&](ValueId id) {
          return producer(id) == number && (is_output(id) || !users(id).empty());
        });
    if (used || !alive(number)) continue;
    alive_[static_cast<std::size_t>(number)] = false;
    for (const ValueId id : candidate.inputs) {
      remove_user(id, number);
      if (producer(id) >= 0) candidates.push_back(producer(id));
    }
  }
}

bool Rewriter::replace(ValueId from, ValueId to) {
  if (from == to) return false;
  CHECK(type(from) == type(to), fmt::format("'{}' is {}, its replacement {}", value(from).name,
                                            ops::to_string(type(from)), ops::to_string(type(to))));
  bool changed = false;
  for (const int reader : std::vector<int>(users(from))) {
    if (reader == producer(to)) continue;  // from -> to, which takes the place of from elsewhere
    std::vector<ValueId>& inputs = nodes_[static_cast<std::size_t>(reader)].inputs;
    std::replace(inputs.begin(), inputs.end(), from, to);
    remove_user(from, reader);
    add_user(to, reader);
    changed = true;
  }
  if (is_output(from) && producer(to) >= 0 && !is_output(to)) {
    std::replace(outputs_.begin(), outputs_.end(), from, to);
    std::swap(output_uses_[index(from)], output_uses_[index(to)]);
    std::swap(values_[index(from)].name, values_[index(to)].name);
    changed = true;
  }
  if (producer(from) >= 0) erase_if_unused(producer(from));
  return changed;
}

void Rewriter::make_constant(ValueId id, ConstantPtr constant) {
  CHECK(constant->type == type(id), "a constant has the type of the value it stands for");
  values_[index(id)].constant = std::move(constant);
  const int number = producer(id);
  producer_[index(id)] = -1;
  if (number >= 0) erase_if_unused(number);
}

void Rewriter::update(int number, std::vector<ValueId> inputs, Attributes attributes) {
  Node& changed = nodes_[static_cast<std::size_t>(number)];
  const std::vector<ValueId> before = std::exchange(changed.inputs, std::move(inputs));
  changed.attributes = std::move(attributes);
  for (const ValueId id : before) remove_user(id, number);
  for (const ValueId id : changed.inputs) add_user(id, number);
  for (const ValueId id : before) {
    if (producer(id) >= 0) erase_if_unused(producer(id));
  }
}

void Rewriter::set_bodies(int number, std::vector<std::shared_ptr<const Graph>> bodies) {
  nodes_[static_cast<std::size_t>(number)].bodies = std::move(bodies);
}

// Depth first from the nodes in their order, so that nodes stay where they are if they can.
std::vector<int> Rewriter::node_order() const {
  enum class Mark : std::uint8_t { New, Open, Done };
  std::vector<Mark> marks(nodes_.size(), Mark::New);
  std::vector<int> order;
  std::vector<int> stack;
  for (int root = 0; root < node_count(); ++root) {
    if (alive(root)) stack.push_back(root);
    while (!stack.empty()) {
      const int current = stack.back();
      Mark& mark = marks[static_cast<std::size_t>(current)];
      if (mark == Mark::New) {
        mark = Mark::Open;
        for (const ValueId id : node(current).inputs) {
          const int before = producer(id);
          if (before < 0) continue;
          const Mark seen = marks[static_cast<std::size_t>(before)];
          CHECK(seen != Mark::Open, "a pass made a cycle");
          if (seen == Mark::New) stack.push_back(before);
        }
        continue;
      }
      stack.pop_back();
      if (mark == Mark::Open) order.push_back(current);
      mark = Mark::Done;
    }
  }
  return order;
}

Graph Rewriter::finish() && {
  for (int n = node_count() - 1; n >= 0; --n) erase_if_unused(n);
  Graph result;
  result.name = std::move(name_);
  std::vector<ValueId> renumbered(values_.size(), kNoValue);
  const auto keep = [&](ValueId id) {
    ValueId& number = renumbered[index(id)];
    if (number == kNoValue) {
      number = static_cast<ValueId>(result.values.size());
      result.values.push_back(std::move(values_[index(id)]));
    }
    return number;
  };
  for (const ValueId id : inputs_) result.inputs.push_back(keep(id));
  for (const int number : node_order()) {
    Node& kept = nodes_[static_cast<std::size_t>(number)];
    for (ValueId& id : kept.inputs) id = id == kNoValue ? kNoValue : keep(id);
    for (ValueId& id : kept.outputs) {
      CHECK(producer(id) == number, "all outputs of a node become constants, or none");
      id = keep(id);
    }
    result.nodes.push_back(std::move(kept));
  }
  for (const ValueId id : outputs_) result.outputs.push_back(keep(id));
  return result;
}

void rewrite_nodes(Rewriter& rewriter, const std::function<bool(int node)>& rule) {
  constexpr int kSweeps = 4;
  const int most_nodes = 8 * rewriter.node_count() + 1000;  // a rule that feeds itself ends
  bool changed = true;
  for (int sweep = 0; sweep < kSweeps && changed; ++sweep) {
    changed = false;
    for (int n = 0; n < rewriter.node_count() && n < most_nodes; ++n) {
      if (rewriter.alive(n) && rule(n)) changed = true;
    }
  }
}

}  // namespace attune::graph
