#include "compiler/graph/layouts/layouts.h"

#include <fmt/format.h>

#include <map>

#include "compiler/graph/frame.h"
#include "compiler/graph/tasks/anchors.h"

namespace attune::graph {
namespace {

class LayoutPass {
 public:
  LayoutPass(const Graph& graph, const LayoutPlan& plan) : plan_(plan), result_(layouts_.graph) {
    result_.name = graph.name;
    result_.values = graph.values;
    result_.inputs = graph.inputs;
    result_.outputs = graph.outputs;
    for (const ValueId id : graph.inputs) {
      if (block_of(id) != 0) owner_[id] = id;
    }
    for (const ValueId id : graph.outputs) fixed_[id] = graph.value(id).layout;
    for (const Node& node : graph.nodes) add(node);
    for (ValueId& id : result_.outputs) {
      const ValueId moved = with_layout(id, fixed_.at(id));
      // What leaves the graph keeps its name.
      if (moved != id) std::swap(result_.value(moved).name, result_.value(id).name);
      id = moved;
    }
  }

  Layouts take() { return std::move(layouts_); }

 private:
  std::int64_t block_of(ValueId id) const {
    return id == kNoValue ? 0 : result_.value(id).layout.block;
  }

  bool is_fixed(ValueId convolution) const {
    const auto given = fixed_.find(convolution);
    return given != fixed_.end() && given->second.is_blocked();
  }

  std::int64_t planned_block(ValueId convolution) const {
    if (is_fixed(convolution)) return fixed_.at(convolution).block;
    const auto found = plan_.own.find(convolution);
    return found == plan_.own.end() ? plan_.block : found->second;
  }

  // The value in the wanted layout, moved there if need be; moved only once.
  ValueId with_layout(ValueId id, Layout wanted) {
    if (id == kNoValue) return id;
    const Value& value = result_.value(id);
    if (value.layout == wanted || (!wanted.is_blocked() && lies_plain(value))) return id;
    const auto key = std::pair(id, wanted.block);
    if (const auto known = moved_.find(key); known != moved_.end()) return known->second;
    const auto fresh = static_cast<ValueId>(result_.values.size());
    const std::string name = value.name;
    const std::string suffix =
        wanted.is_blocked() ? fmt::format(".blocked{}", wanted.block) : ".plain";
    const Value moved{name + suffix, value.type, nullptr, wanted};
    result_.values.push_back(moved);
    result_.nodes.push_back({"relayout", name, {id}, {fresh}, {}, {}});
    moved_[key] = fresh;
    return fresh;
  }

  // The layout of an operator that can work in any: that of the tensors it mostly reads, blocked
  // when all of them are.
  ValueId followed(const Node& node) const {
    const TensorType& type = result_.value(node.outputs[0]).type;
    if ((type.rank() != 3 && type.rank() != 4) || !type.is_static()) return kNoValue;
    ValueId first = kNoValue;
    for (const ValueId id : node.inputs) {
      if (id == kNoValue || result_.value(id).constant != nullptr) continue;
      const bool large = 2 * result_.value(id).type.elements() >= type.elements() ||
                         operator_of(node).traits.enlarges;
      if (!large) continue;
      if (block_of(id) == 0) return kNoValue;
      if (first == kNoValue) first = id;
    }
    return first;
  }

  // The output lies like `leader`, which belongs to the same convolution from now on.
  void follow(Node& node, ValueId leader) {
    const Layout layout = result_.value(leader).layout;
    for (ValueId& id : node.inputs) {
      if (id == kNoValue || block_of(id) == 0) continue;
      link(owner_.at(leader), owner_.at(id), id);
      id = with_layout(id, layout);
    }
    result_.value(node.outputs[0]).layout = layout;
    owner_[node.outputs[0]] = owner_.at(leader);
  }

  // Only what the plan decides about can be moved because of it.
  void link(ValueId from, ValueId to, ValueId moved) {
    const auto& decided = layouts_.convolutions;
    const auto is_decided = [&](ValueId id) {
      return std::find(decided.begin(), decided.end(), id) != decided.end();
    };
    if (from != to && is_decided(from) && is_decided(to)) {
      layouts_.links.push_back({from, to, moved});
    }
  }

  void add_convolution(Node& node, WantedLayout input, std::int64_t block) {
    const ValueId output = node.outputs[0];
    if (!is_fixed(output)) layouts_.convolutions.push_back(output);
    if (input == WantedLayout::Blocked) {
      if (block_of(node.inputs[0]) != 0) link(owner_.at(node.inputs[0]), output, node.inputs[0]);
      node.inputs[0] = with_layout(node.inputs[0], {block});
    } else {
      node.inputs[0] = with_layout(node.inputs[0], {});
    }
    result_.value(output).layout = {block};
    owner_[output] = output;
  }

  void add(Node node) {
    const ops::OpDef& def = operator_of(node);
    const ops::OpKind kind = def.kind;
    for (auto& body : node.bodies) {
      body = std::make_shared<const Graph>(assign_layouts(*body, plan_.block));
    }
    const std::int64_t block = node.outputs.empty() ? 0 : planned_block(node.outputs[0]);
    const auto form = blocked_form(result_, node, block);
    if (form && form->input != WantedLayout::Any) {
      add_convolution(node, form->input, block);
    } else if (form) {
      if (block_of(node.inputs[0]) != 0) follow(node, node.inputs[0]);
    } else if (kind == ops::OpKind::Elementwise || def.traits.keeps_channels) {
      if (const ValueId leader = followed(node); leader != kNoValue) follow(node, leader);
    } else if (kind != ops::OpKind::Injective && kind != ops::OpKind::Reduction) {
      for (ValueId& id : node.inputs) id = with_layout(id, {});
    }
    result_.nodes.push_back(std::move(node));
  }

  const LayoutPlan& plan_;
  Layouts layouts_;
  Graph& result_;  // that of the layouts
  std::map<std::pair<ValueId, std::int64_t>, ValueId> moved_;
  // Of blocked values: the convolution whose layout they have, or the input itself.
  std::map<ValueId, ValueId> owner_;
  std::map<ValueId, Layout> fixed_;  // of outputs, as they come
};

}  // namespace

Layouts lay_out(const Graph& graph, const LayoutPlan& plan) {
  return LayoutPass(graph, plan).take();
}

Graph assign_layouts(const Graph& graph, std::int64_t block) {
  return lay_out(graph, {block}).graph;
}

}  // namespace attune::graph
