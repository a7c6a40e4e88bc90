#include "compiler/graph/passes/interpret_testing.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <random>

#include "compiler/graph/builder.h"

namespace attune::graph {
namespace {

// The types of a node's outputs are those its operator infers.
std::string wrong_type(const Graph& graph) {
  for (const Node& node : graph.nodes) {
    const auto types = operator_of(node).infer(call_of(graph, node));
    if (!types.ok()) return fmt::format("'{}': {}", node.op, types.error().message);
    for (std::size_t i = 0; i < node.outputs.size(); ++i) {
      const TensorType& type = graph.value(node.outputs[i]).type;
      if (type != (*types)[i]) {
        return fmt::format("'{}' has type {}, inferred is {}", graph.value(node.outputs[i]).name,
                           ops::to_string(type), ops::to_string((*types)[i]));
      }
    }
  }
  return {};
}

std::string different_interface(const Graph& before, const Graph& after) {
  const auto names = [](const Graph& graph, const std::vector<ValueId>& ids) {
    std::string text;
    for (const ValueId id : ids) {
      text += fmt::format("{}: {}, ", graph.value(id).name, ops::to_string(graph.value(id).type));
    }
    return text;
  };
  if (names(before, before.inputs) != names(after, after.inputs)) return "inputs differ";
  const std::string was = names(before, before.outputs), is = names(after, after.outputs);
  return was == is ? "" : fmt::format("outputs were {}are {}", was, is);
}

std::string different_values(const Constant& a, const Constant& b, double tolerance) {
  double largest = 1e-30;
  for (std::int64_t i = 0; i < a.type.elements(); ++i) {
    if (std::isfinite(a.real(i))) largest = std::max(largest, std::abs(a.real(i)));
  }
  for (std::int64_t i = 0; i < a.type.elements(); ++i) {
    if (a.real(i) == b.real(i)) continue;  // infinities too
    if (std::abs(a.real(i) - b.real(i)) <= tolerance * largest) continue;
    if (std::isnan(a.real(i)) && std::isnan(b.real(i))) continue;
    return fmt::format("element {} was {}, is {}", i, a.real(i), b.real(i));
  }
  return {};
}

}  // namespace

Result<std::vector<ConstantPtr>> interpret_graph(const Graph& graph,
                                                 const std::vector<ConstantPtr>& inputs) {
  Graph filled = graph;
  for (std::size_t i = 0; i < inputs.size(); ++i)
    filled.value(graph.inputs[i]).constant = inputs[i];
  for (const Node& node : graph.nodes) {
    ATTUNE_ASSIGN(const std::vector<ConstantPtr> results, evaluate(call_of(filled, node), {}));
    for (std::size_t i = 0; i < results.size(); ++i) {
      filled.value(node.outputs[i]).constant = results[i];
    }
  }
  std::vector<ConstantPtr> outputs;
  for (const ValueId id : graph.outputs) outputs.push_back(filled.value(id).constant);
  return outputs;
}

ConstantPtr random_constant(const TensorType& type, unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> real(-2, 2);
  ir::Array array(type.dtype, type.shape);
  for (std::int64_t i = 0; i < array.count(); ++i) {
    if (type.dtype.is_float()) {
      array.set_real(i, real(random));
    } else {
      array.set_int(i, static_cast<std::int64_t>(random() % 4));
    }
  }
  return ops::make_constant(std::move(array));
}

std::string difference(const Graph& before, const Graph& after, double tolerance) {
  if (const Status verified = verify(after); !verified.ok()) return verified.error().message;
  if (std::string wrong = wrong_type(after); !wrong.empty()) return wrong;
  if (std::string wrong = different_interface(before, after); !wrong.empty()) return wrong;
  std::vector<ConstantPtr> inputs;
  for (const ValueId id : before.inputs) {
    inputs.push_back(random_constant(before.value(id).type, static_cast<unsigned>(id) + 1));
  }
  const auto expected = interpret_graph(before, inputs), found = interpret_graph(after, inputs);
  if (!expected.ok()) return expected.error().message;
  if (!found.ok()) return found.error().message;
  for (std::size_t i = 0; i < expected->size(); ++i) {
    std::string wrong = different_values(*(*expected)[i], *(*found)[i], tolerance);
    if (!wrong.empty()) return fmt::format("output {}: {}", i, wrong);
  }
  return {};
}

std::string sketch(const Graph& graph) {
  std::map<ValueId, std::string> names{{kNoValue, "-"}};
  int number = 0;
  for (const ValueId id : graph.inputs) names[id] = fmt::format("%{}", number++);
  const auto name = [&](ValueId id) {
    const auto found = names.find(id);
    if (found != names.end()) return found->second;
    const Constant& constant = *graph.value(id).constant;
    for (std::int64_t i = 1; i < constant.type.elements(); ++i) {
      if (constant.real(i) != constant.real(0)) return ops::to_string(constant.type);
    }
    return fmt::format("{:.5g}", constant.real(0));
  };
  const auto list = [&](const std::vector<ValueId>& ids) {
    std::vector<std::string> texts;
    for (const ValueId id : ids) texts.push_back(name(id));
    return fmt::format("{}", fmt::join(texts, ", "));
  };
  const std::string full = to_string(graph);  // for the attributes
  std::size_t place = full.find(" = ");
  std::string text;
  for (const Node& node : graph.nodes) {
    for (const ValueId id : node.outputs) names[id] = fmt::format("%{}", number++);
    const std::size_t open = full.find(") {", place) + 2, close = full.find("} : ", open);
    const std::string attributes = full.substr(open, close + 1 - open);
    place = full.find(" = ", close);
    text += fmt::format("{} = {}({}){}\n", list(node.outputs), node.op, list(node.inputs),
                        attributes == "{}" ? "" : " " + attributes);
  }
  return text + fmt::format("return {}\n", list(graph.outputs));
}

}  // namespace attune::graph
