#include "compiler/graph/builder.h"

#include <fmt/format.h>

#include <algorithm>

namespace attune::graph {

namespace {

constexpr std::int64_t kLargestTensorBytes = std::int64_t{1} << 40;

// Every extent makes sense, and the tensor could be held by some memory.
Status check_size(const TensorType& type) {
  std::int64_t bytes = type.dtype.element_bytes();
  bool empty = false;
  for (const std::int64_t extent : type.shape) {
    if (extent < 0) return invalid(fmt::format("its result would be {}", ops::to_string(type)));
    empty |= extent == 0;
    if (extent > 0 && (__builtin_mul_overflow(bytes, extent, &bytes) ||
                       (!empty && bytes > kLargestTensorBytes))) {
      return invalid(fmt::format("its result {} is too large", ops::to_string(type)));
    }
  }
  return {};
}

}  // namespace

Builder::Builder(std::string name, Folding folding) : folding_(std::move(folding)) {
  graph_.name = std::move(name);
}

std::string Builder::free_name(std::string wanted) {
  if (wanted.empty()) wanted = "value";
  const auto [entry, is_new] = names_.emplace(wanted, 0);
  if (is_new) return wanted;
  std::string name;
  do {
    name = fmt::format("{}.{}", wanted, ++names_.find(wanted)->second);
  } while (!names_.emplace(name, 0).second);
  return name;
}

ValueId Builder::input(std::string name, TensorType type) {
  const auto id = static_cast<ValueId>(graph_.values.size());
  graph_.values.push_back({free_name(std::move(name)), std::move(type)});
  graph_.inputs.push_back(id);
  return id;
}

ValueId Builder::constant(ConstantPtr constant, std::string name) {
  const auto id = static_cast<ValueId>(graph_.values.size());
  TensorType type = constant->type;
  graph_.values.push_back(
      {free_name(name.empty() ? "const" : std::move(name)), std::move(type), std::move(constant)});
  return id;
}

void Builder::rename(ValueId value, std::string name) {
  Value& renamed = graph_.value(value);
  if (renamed.name != name) renamed.name = free_name(std::move(name));
}

Result<std::vector<ValueId>> Builder::add_node(std::string op, std::vector<ValueId> inputs,
                                               Attributes attributes,
                                               std::vector<std::shared_ptr<const Graph>> bodies,
                                               std::string name) {
  const ops::OpDef* def = ops::find_operator(op);
  CHECK(def != nullptr, fmt::format("there is no operator '{}'", op));
  Node node{op,
            name.empty() ? origin_ : std::move(name),
            std::move(inputs),
            {},
            std::move(attributes),
            std::move(bodies)};
  const ops::OpCall call = call_of(graph_, node);
  ATTUNE_ASSIGN(std::vector<TensorType> types, def->infer(call));
  for (const TensorType& type : types) ATTUNE_RETURN_IF_ERROR(check_size(type));
  ATTUNE_ASSIGN(const auto folded, fold(call, types, folding_));
  std::vector<ValueId> outputs;
  const std::string base = node.name.empty() ? op : node.name;
  for (std::size_t i = 0; i < types.size(); ++i) {
    if (folded) {
      outputs.push_back(constant((*folded)[i], base));
      continue;
    }
    outputs.push_back(static_cast<ValueId>(graph_.values.size()));
    graph_.values.push_back({free_name(base), std::move(types[i])});
  }
  if (!folded) {
    node.outputs = outputs;
    graph_.nodes.push_back(std::move(node));
  }
  return outputs;
}

Result<ValueId> Builder::add(std::string op, std::vector<ValueId> inputs, Attributes attributes) {
  ATTUNE_ASSIGN(const std::vector<ValueId> outputs,
                add_node(std::move(op), std::move(inputs), std::move(attributes)));
  CHECK(outputs.size() == 1, "the operator has several outputs");
  return outputs.front();
}

Graph Builder::finish(std::vector<ValueId> outputs) && {
  graph_.outputs = std::move(outputs);
  return std::move(graph_);
}

}  // namespace attune::graph
