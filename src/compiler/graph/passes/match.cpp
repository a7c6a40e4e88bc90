#include "compiler/graph/passes/match.h"

#include <fmt/format.h>

#include <algorithm>

namespace attune::graph {
namespace {

template <typename T>
const T& attribute(const Node& node, std::string_view key) {
  const auto found = node.attributes.find(key);
  CHECK(found != node.attributes.end(), fmt::format("{} has no attribute '{}'", node.op, key));
  const T* value = std::get_if<T>(&found->second);
  CHECK(value != nullptr, fmt::format("attribute '{}' of {} has another type", key, node.op));
  return *value;
}

}  // namespace

const Node* made_by(const Rewriter& rewriter, ValueId id, std::string_view op) {
  const Node* node = rewriter.maker(id);
  return node != nullptr && node->op == op ? node : nullptr;
}

const Node* made_only_by(const Rewriter& rewriter, ValueId id, std::string_view op) {
  const Node* node = made_by(rewriter, id, op);
  return node != nullptr && rewriter.has_one_use(id) ? node : nullptr;
}

std::optional<double> number_of(const Rewriter& rewriter, ValueId id) {
  const ConstantPtr constant = rewriter.constant_of(id);
  if (constant == nullptr || constant->type.elements() == 0) return std::nullopt;
  const double first = constant->real(0);
  for (std::int64_t i = 1; i < constant->type.elements(); ++i) {
    if (constant->real(i) != first) return std::nullopt;
  }
  return first;
}

std::optional<ConstantOperand> constant_operand(const Rewriter& rewriter, const Node& node) {
  if (node.inputs.size() != 2) return std::nullopt;
  const bool first = rewriter.constant_of(node.inputs[0]) != nullptr;
  const bool second = rewriter.constant_of(node.inputs[1]) != nullptr;
  if (first == second) return std::nullopt;
  return first ? ConstantOperand{node.inputs[1], node.inputs[0]}
               : ConstantOperand{node.inputs[0], node.inputs[1]};
}

std::optional<ValueId> other_operand(const Node& node, ValueId known) {
  if (node.inputs.size() != 2) return std::nullopt;
  if (node.inputs[0] == known) return node.inputs[1];
  if (node.inputs[1] == known) return node.inputs[0];
  return std::nullopt;
}

std::int64_t integer_of(const Node& node, std::string_view key) {
  return attribute<std::int64_t>(node, key);
}
double real_of(const Node& node, std::string_view key) { return attribute<double>(node, key); }
const Shape& integers_of(const Node& node, std::string_view key) {
  return attribute<Shape>(node, key);
}
bool has_attribute(const Node& node, std::string_view key) {
  return node.attributes.find(key) != node.attributes.end();
}

std::optional<std::vector<int>> same_but_ones(const Shape& from, const Shape& to) {
  std::vector<int> places;
  std::size_t next = 0;
  const auto skip_ones = [&] {
    while (next < from.size() && from[next] == 1) ++next;
  };
  for (const std::int64_t extent : to) {
    if (extent == 1) {
      places.push_back(-1);
      continue;
    }
    skip_ones();
    if (next == from.size() || from[next] != extent) return std::nullopt;
    places.push_back(static_cast<int>(next++));
  }
  skip_ones();
  if (next != from.size()) return std::nullopt;
  return places;
}

bool has_operators(std::initializer_list<std::string_view> names) {
  return std::all_of(names.begin(), names.end(),
                     [](std::string_view name) { return ops::find_operator(name) != nullptr; });
}

}  // namespace attune::graph
