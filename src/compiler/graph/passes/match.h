// Questions that rules ask about nodes, values and constants of a graph that is being rewritten.
#pragma once

#include <initializer_list>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "compiler/graph/passes/rewriter.h"

namespace attune::graph {

using Shape = std::vector<std::int64_t>;

// The node that computes a value if it is the operator, else null.
const Node* made_by(const Rewriter& rewriter, ValueId id, std::string_view op);
// As made_by, if nothing but one node reads the value.
const Node* made_only_by(const Rewriter& rewriter, ValueId id, std::string_view op);

// The one number that all elements of a constant have.
std::optional<double> number_of(const Rewriter& rewriter, ValueId id);

// The operands of a node with two inputs as (other, constant); nothing if neither is a constant
// or both are.
struct ConstantOperand {
  ValueId other, constant;
};
std::optional<ConstantOperand> constant_operand(const Rewriter& rewriter, const Node& node);

// The operand of a node with two inputs that is not `known`; nothing if neither is.
std::optional<ValueId> other_operand(const Node& node, ValueId known);

std::int64_t integer_of(const Node& node, std::string_view key);
double real_of(const Node& node, std::string_view key);
const Shape& integers_of(const Node& node, std::string_view key);
bool has_attribute(const Node& node, std::string_view key);

// For each dimension of `to` the dimension of `from` that it is, -1 for those of extent 1; nothing
// unless the shapes are equal but for dimensions of extent 1.
std::optional<std::vector<int>> same_but_ones(const Shape& from, const Shape& to);

// Whether the operators exist, so that a rule may make them.
bool has_operators(std::initializer_list<std::string_view> names);

}  // namespace attune::graph
