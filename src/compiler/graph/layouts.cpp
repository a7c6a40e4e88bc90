#include "compiler/graph/layouts.h"

#include <algorithm>
#include <map>

#include "compiler/graph/anchors.h"
#include "compiler/graph/frame.h"

namespace attune::graph {
namespace {

// Operators that compute an element of a channel from elements of the same channel.
bool keeps_channels(std::string_view op) {
  constexpr std::string_view kNames[] = {"resample", "pad", "slice", "concat"};
  return std::find(std::begin(kNames), std::end(kNames), op) != std::end(kNames);
}

class LayoutPass {
 public:
  LayoutPass(const Graph& graph, std::int64_t block) : block_(block) {
    result_.name = graph.name;
    result_.values = graph.values;
    result_.inputs = graph.inputs;
    result_.outputs = graph.outputs;
    for (const Node& node : graph.nodes) add(node);
    for (ValueId& id : result_.outputs) {
      const ValueId plain = with_layout(id, {});
      // What leaves the graph keeps its name.
      if (plain != id) std::swap(result_.value(plain).name, result_.value(id).name);
      id = plain;
    }
  }

  Graph take() { return std::move(result_); }

 private:
  bool is_blocked(ValueId id) const {
    return id != kNoValue && result_.value(id).layout.is_blocked();
  }

  // The value in the wanted layout, moved there if need be; moved only once.
  ValueId with_layout(ValueId id, Layout wanted) {
    if (id == kNoValue) return id;
    const Value& value = result_.value(id);
    if (value.layout == wanted || (!wanted.is_blocked() && lies_plain(value))) return id;
    const auto key = std::pair(id, wanted.block);
    if (const auto known = moved_.find(key); known != moved_.end()) return known->second;
    const auto fresh = static_cast<ValueId>(result_.values.size());
    const Value moved{value.name + (wanted.is_blocked() ? ".blocked" : ".plain"), value.type,
                      nullptr, wanted};
    const std::string name = value.name;
    result_.values.push_back(moved);
    result_.nodes.push_back({"relayout", name, {id}, {fresh}, {}, {}});
    moved_[key] = fresh;
    return fresh;
  }

  // Whether an operator that can work in any layout should give a blocked result: when the tensor
  // it mostly reads is blocked.
  bool follows_blocked(const Node& node) const {
    const TensorType& type = result_.value(node.outputs[0]).type;
    if ((type.rank() != 3 && type.rank() != 4) || !type.is_static()) return false;
    bool any = false;
    for (const ValueId id : node.inputs) {
      if (id == kNoValue || result_.value(id).constant != nullptr) continue;
      const bool large = 2 * result_.value(id).type.elements() >= type.elements() ||
                         node.op == "resample" || node.op == "concat";
      if (is_blocked(id)) {
        any |= large;
      } else if (large) {
        return false;
      }
    }
    return any;
  }

  void add(Node node) {
    const ops::OpKind kind = operator_of(node).kind;
    for (auto& body : node.bodies) {
      body = std::make_shared<const Graph>(assign_layouts(*body, block_));
    }
    const auto form = blocked_form(result_, node, block_);
    if (form) {
      const bool wants = form->input == WantedLayout::Blocked;
      if (wants) node.inputs[0] = with_layout(node.inputs[0], {block_});
      if (form->input == WantedLayout::Plain) node.inputs[0] = with_layout(node.inputs[0], {});
      if (form->input != WantedLayout::Any || is_blocked(node.inputs[0])) {
        result_.value(node.outputs[0]).layout = {block_};
      }
    } else if (kind == ops::OpKind::Elementwise || keeps_channels(node.op)) {
      if (follows_blocked(node)) result_.value(node.outputs[0]).layout = {block_};
    } else if (kind != ops::OpKind::Injective && kind != ops::OpKind::Reduction) {
      for (ValueId& id : node.inputs) id = with_layout(id, {});
    }
    result_.nodes.push_back(std::move(node));
  }

  std::int64_t block_;
  Graph result_;
  std::map<std::pair<ValueId, std::int64_t>, ValueId> moved_;
};

}  // namespace

Graph assign_layouts(const Graph& graph, std::int64_t block) {
  return LayoutPass(graph, block).take();
}

}  // namespace attune::graph
