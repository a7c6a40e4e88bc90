#include "compiler/frontend/onnx/trip_count.h"

#include <set>

#include "compiler/graph/builder.h"

namespace attune::onnx {
namespace {

using graph::kNoValue;
using graph::ValueId;

// The nodes that the condition, and the carried values it depends on, are computed by.
struct Control {
  std::vector<std::size_t> nodes;  // in order
  std::vector<std::size_t> carried;
};

std::optional<Control> control_of(const graph::Graph& body, std::size_t carried) {
  const std::vector<int> producers = graph::producers(body);
  std::set<ValueId> seen;
  std::set<std::size_t> nodes, states;
  std::vector<ValueId> queue{body.outputs[0]};
  while (!queue.empty()) {
    const ValueId value = queue.back();
    queue.pop_back();
    if (value == kNoValue || body.value(value).constant != nullptr) continue;
    if (!seen.insert(value).second) continue;
    const int producer = producers[static_cast<std::size_t>(value)];
    if (producer >= 0) {
      const graph::Node& node = body.nodes[static_cast<std::size_t>(producer)];
      const ops::OpKind kind = graph::operator_of(node).kind;
      if (kind == ops::OpKind::Host || kind == ops::OpKind::Control) return std::nullopt;
      nodes.insert(static_cast<std::size_t>(producer));
      queue.insert(queue.end(), node.inputs.begin(), node.inputs.end());
      continue;
    }
    if (value == body.inputs[0]) continue;
    std::size_t state = 0;
    while (state < carried && body.inputs[1 + state] != value) ++state;
    if (state == carried) return std::nullopt;  // data of the loop's surroundings
    states.insert(state);
    queue.push_back(body.outputs[1 + state]);
  }
  return Control{{nodes.begin(), nodes.end()}, {states.begin(), states.end()}};
}

}  // namespace

std::optional<std::int64_t> trip_count(const graph::Graph& body,
                                       const std::vector<ops::ConstantPtr>& initial,
                                       std::int64_t most) {
  const auto control = control_of(body, initial.size());
  if (!control) return std::nullopt;
  std::vector<ops::ConstantPtr> state = initial;
  for (const std::size_t number : control->carried) {
    if (state[number] == nullptr || state[number]->type.elements() > 64) return std::nullopt;
  }
  for (std::int64_t trip = 0; trip < most; ++trip) {
    std::vector<ops::ConstantPtr> values(body.values.size());
    for (std::size_t v = 0; v < values.size(); ++v) values[v] = body.values[v].constant;
    const auto at = [&](ValueId id) -> ops::ConstantPtr& {
      return values[static_cast<std::size_t>(id)];
    };
    at(body.inputs[0]) = ops::scalar_constant(ir::kI64, static_cast<double>(trip));
    for (const std::size_t number : control->carried) at(body.inputs[1 + number]) = state[number];
    for (const std::size_t number : control->nodes) {
      const graph::Node& node = body.nodes[number];
      ops::OpCall call = graph::call_of(body, node);
      for (std::size_t i = 0; i < node.inputs.size(); ++i) {
        if (node.inputs[i] != kNoValue) call.constants[i] = at(node.inputs[i]);
      }
      const auto results = graph::evaluate(call, {});
      if (!results.ok()) return std::nullopt;
      at(node.outputs[0]) = results->front();
    }
    for (const std::size_t number : control->carried) state[number] = at(body.outputs[1 + number]);
    if (at(body.outputs[0])->integer(0) == 0) return trip + 1;
  }
  return std::nullopt;
}

}  // namespace attune::onnx
