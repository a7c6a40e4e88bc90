#include "compiler/frontend/onnx/affine.h"

#include <algorithm>
#include <cmath>

namespace attune::onnx {
namespace {

using graph::Graph;
using graph::kNoValue;
using graph::ValueId;

std::optional<std::int64_t> whole_number(const ops::ConstantPtr& constant) {
  if (constant == nullptr || constant->type.elements() != 1) return std::nullopt;
  const double value = constant->real(0);
  if (std::abs(value) > 1e15 || value != std::floor(value)) return std::nullopt;
  return static_cast<std::int64_t>(value);
}

}  // namespace

const graph::Node* producer_of(const Graph& graph, ValueId value) {
  const auto found =
      std::find_if(graph.nodes.rbegin(), graph.nodes.rend(), [&](const graph::Node& node) {
        return std::find(node.outputs.begin(), node.outputs.end(), value) != node.outputs.end();
      });
  return found == graph.nodes.rend() ? nullptr : &*found;
}

std::optional<Affine> affine_of(const Graph& graph, ValueId value) {
  constexpr int kLongestChain = 100;
  std::int64_t offset = 0;
  for (int step = 0; step < kLongestChain; ++step) {
    if (value == kNoValue || graph.value(value).type.elements() != 1) return std::nullopt;
    if (const auto number = whole_number(graph.value(value).constant)) {
      return Affine{kNoValue, offset + *number};
    }
    const graph::Node* node = producer_of(graph, value);
    if (node == nullptr) return Affine{value, offset};
    const std::string& op = node->op;
    if (op == "reshape" || op == "cast" || op == "identity") {
      value = node->inputs[0];
      continue;
    }
    const bool is_sum = op == "add" || op == "sub" || op == "min";
    if (!is_sum || node->inputs.size() != 2) return Affine{value, offset};
    const auto left = whole_number(graph.value(node->inputs[0]).constant);
    const auto right = whole_number(graph.value(node->inputs[1]).constant);
    if (right) {
      value = node->inputs[0];
      if (op != "min") offset += op == "add" ? *right : -*right;
    } else if (left && op != "sub") {
      value = node->inputs[1];
      if (op == "add") offset += *left;
    } else {
      return Affine{value, offset};
    }
  }
  return std::nullopt;
}

std::optional<std::int64_t> constant_distance(const Graph& graph, ValueId first, ValueId last) {
  const auto from = affine_of(graph, first), to = affine_of(graph, last);
  if (!from || !to || from->base == kNoValue || from->base != to->base) return std::nullopt;
  return to->offset - from->offset;
}

}  // namespace attune::onnx
