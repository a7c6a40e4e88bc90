#include "compiler/graph/graph.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/match.h"

namespace attune::graph {

ops::OpCall call_of(const Graph& graph, const Node& node) {
  ops::OpCall call{node.op, node.attributes, {}, {}, {}, {}};
  for (const ValueId id : node.inputs) {
    const bool present = id != kNoValue;
    call.present.push_back(present);
    call.inputs.push_back(present ? graph.value(id).type : TensorType{});
    call.constants.push_back(present ? graph.value(id).constant : nullptr);
  }
  for (const auto& body : node.bodies) {
    std::vector<TensorType>& types = call.bodies.emplace_back();
    for (const ValueId id : body->outputs) types.push_back(body->value(id).type);
  }
  return call;
}

const ops::OpDef& operator_of(const Node& node) {
  const ops::OpDef* def = ops::find_operator(node.op);
  CHECK(def != nullptr, fmt::format("there is no operator '{}'", node.op));
  return *def;
}

std::vector<int> producers(const Graph& graph) {
  std::vector<int> result(graph.values.size(), -1);
  for (std::size_t n = 0; n < graph.nodes.size(); ++n) {
    for (const ValueId id : graph.nodes[n].outputs) {
      result[static_cast<std::size_t>(id)] = static_cast<int>(n);
    }
  }
  return result;
}

std::vector<std::vector<int>> consumers(const Graph& graph) {
  std::vector<std::vector<int>> result(graph.values.size());
  for (std::size_t n = 0; n < graph.nodes.size(); ++n) {
    for (const ValueId id : graph.nodes[n].inputs) {
      if (id == kNoValue) continue;
      auto& readers = result[static_cast<std::size_t>(id)];
      if (readers.empty() || readers.back() != static_cast<int>(n)) {
        readers.push_back(static_cast<int>(n));
      }
    }
  }
  return result;
}

Status verify(const Graph& graph) {
  const auto in_range = [&](ValueId id) {
    return id >= 0 && id < static_cast<ValueId>(graph.values.size());
  };
  std::vector<bool> known(graph.values.size(), false);
  for (std::size_t v = 0; v < graph.values.size(); ++v) {
    known[v] = graph.values[v].constant != nullptr;
  }
  for (const ValueId id : graph.inputs) {
    if (!in_range(id)) return invalid(fmt::format("graph input {} does not exist", id));
    known[static_cast<std::size_t>(id)] = true;
  }
  for (const Node& node : graph.nodes) {
    if (ops::find_operator(node.op) == nullptr) {
      return invalid(fmt::format("node '{}' has the unknown operator '{}'", node.name, node.op));
    }
    for (const ValueId id : node.inputs) {
      if (id == kNoValue) continue;
      if (!in_range(id) || !known[static_cast<std::size_t>(id)]) {
        return invalid(
            fmt::format("node '{}' reads value {} before it is computed", node.name, id));
      }
    }
    for (const ValueId id : node.outputs) {
      if (!in_range(id) || known[static_cast<std::size_t>(id)]) {
        return invalid(fmt::format("node '{}' computes value {} a second time", node.name, id));
      }
      known[static_cast<std::size_t>(id)] = true;
    }
  }
  for (const ValueId id : graph.outputs) {
    if (!in_range(id) || !known[static_cast<std::size_t>(id)]) {
      return invalid(fmt::format("graph output {} is never computed", id));
    }
  }
  return {};
}

namespace {

std::string attribute_text(const ops::Attribute& attribute) {
  return std::visit(
      Match{[](const std::string& word) { return word; },
            [](std::int64_t number) { return fmt::format("{}", number); },
            [](double number) { return fmt::format("{}", number); },
            [](const auto& list) { return fmt::format("[{}]", fmt::join(list, ",")); }},
      attribute);
}

std::string type_text(const Value& value) {
  return ops::to_string(value.type) +
         (value.layout.is_blocked() ? fmt::format("/{}", value.layout.block) : "");
}

}  // namespace

std::string to_string(const Graph& graph) {
  const auto name = [&](ValueId id) {
    return id == kNoValue ? std::string("-") : "%" + graph.value(id).name;
  };
  const auto list = [&](const std::vector<ValueId>& ids) {
    std::vector<std::string> names;
    for (const ValueId id : ids) names.push_back(name(id));
    return fmt::format("{}", fmt::join(names, ", "));
  };
  std::string text = fmt::format("graph {}\n", graph.name);
  for (const ValueId id : graph.inputs) {
    text += fmt::format("  input {} : {}\n", name(id), type_text(graph.value(id)));
  }
  for (const Node& node : graph.nodes) {
    std::string attributes;
    for (const auto& [key, value] : node.attributes) {
      attributes +=
          fmt::format("{}{}={}", attributes.empty() ? "" : ", ", key, attribute_text(value));
    }
    std::vector<std::string> types;
    for (const ValueId id : node.outputs) types.push_back(type_text(graph.value(id)));
    text += fmt::format("  {} = {}({}) {{{}}} : {}\n", list(node.outputs), node.op,
                        list(node.inputs), attributes, fmt::join(types, ", "));
  }
  return text + fmt::format("  return {}\n", list(graph.outputs));
}

}  // namespace attune::graph
