#include "compiler/frontend/onnx/import.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <set>

#include "compiler/frontend/onnx/converters.h"
#include "compiler/frontend/onnx/interface.h"
#include "compiler/frontend/onnx/scope.h"

namespace attune::onnx {
namespace {

constexpr int kNewestOpset = 28;
// Calls of functions and subgraphs within each other.
constexpr int kDeepestScope = 100;

Error in_node(const ::onnx::NodeProto& node, const Error& error) {
  return {error.code, fmt::format("{}: {}", label_of(node), error.message), error.hint};
}

// The attributes of a node; in a function, references to attributes of the caller are resolved.
AttributeTable attributes_of(const Scope& scope, const ::onnx::NodeProto& node) {
  AttributeTable table;
  for (const auto& attribute : node.attribute()) {
    if (attribute.ref_attr_name().empty()) {
      table[attribute.name()] = &attribute;
      continue;
    }
    const auto argument = scope.arguments().find(attribute.ref_attr_name());
    if (argument != scope.arguments().end()) table[attribute.name()] = argument->second;
  }
  return table;
}

Result<std::vector<ValueId>> operands_of(Scope& scope, const ::onnx::NodeProto& node) {
  std::vector<ValueId> operands;
  for (const std::string& name : node.input()) {
    if (name.empty()) {
      operands.push_back(kNoValue);
      continue;
    }
    ATTUNE_ASSIGN(const std::optional<ValueId> value, scope.find(name));
    if (!value) return invalid(fmt::format("it reads '{}', which nothing computes", name));
    if (*value == kUnsupportedOutput) {
      return unsupported(fmt::format("it reads '{}', an output that is not supported", name));
    }
    operands.push_back(*value);
  }
  while (!operands.empty() && operands.back() == kNoValue) operands.pop_back();
  return operands;
}

Status check_operands(const Converter& converter, const std::vector<ValueId>& operands) {
  const auto count = static_cast<int>(operands.size());
  if (count < converter.least_inputs || count > converter.most_inputs) {
    return invalid(
        converter.least_inputs == converter.most_inputs
            ? fmt::format("it has {} inputs, must have {}", count, converter.least_inputs)
            : fmt::format("it has {} inputs, must have {} to {}", count, converter.least_inputs,
                          converter.most_inputs));
  }
  for (int i = 0; i < converter.least_inputs; ++i) {
    if (operands[static_cast<std::size_t>(i)] == kNoValue) {
      return invalid(fmt::format("input {} is left out, but is not optional", i));
    }
  }
  return {};
}

Status define_outputs(Scope& scope, const ::onnx::NodeProto& node,
                      const std::vector<ValueId>& operands, const std::vector<ValueId>& results) {
  for (int i = 0; i < node.output_size(); ++i) {
    if (node.output(i).empty()) continue;
    const auto at = static_cast<std::size_t>(i);
    if (at >= results.size() || results[at] == kNoValue) {
      scope.define(node.output(i), kUnsupportedOutput);  // fails whoever reads it
      continue;
    }
    scope.define(node.output(i), results[at]);
    std::vector<ValueId>& sources = scope.site().sources[results[at]];
    for (const ValueId operand : operands) {
      if (operand != kNoValue && operand != results[at]) sources.push_back(operand);
    }
  }
  return {};
}

Status import_node(Scope& scope, const ::onnx::NodeProto& node);

Status import_nodes(Scope& scope, const NodeList& nodes, const std::vector<std::string>& outputs) {
  auto order = sorted_nodes(nodes, outputs, scope);
  if (!order.ok()) return order.error();
  for (const ::onnx::NodeProto* node : *order) ATTUNE_RETURN_IF_ERROR(import_node(scope, *node));
  return {};
}

// The values of a function's outputs, its nodes being put in the place of the call.
Result<std::vector<ValueId>> call_function(Scope& scope, const ::onnx::NodeProto& node,
                                           const ::onnx::FunctionProto& function,
                                           const std::vector<ValueId>& operands) {
  if (scope.depth() >= kDeepestScope) {
    return invalid(fmt::format("functions call each other more than {} deep", kDeepestScope));
  }
  AttributeTable arguments;
  for (const auto& attribute : function.attribute_proto()) {
    arguments[attribute.name()] = &attribute;
  }
  for (const auto& [name, attribute] : attributes_of(scope, node)) arguments[name] = attribute;
  OpsetTable opsets = opset_table(function.opset_import());
  for (const auto& [domain, version] : scope.opsets()) opsets.emplace(domain, version);
  Scope inside(scope.model(), scope.site(), nullptr, std::move(opsets));
  inside.set_depth(scope.depth() + 1);
  inside.set_arguments(std::move(arguments));
  for (int i = 0; i < function.input_size(); ++i) {
    const auto at = static_cast<std::size_t>(i);
    inside.define(function.input(i), at < operands.size() ? operands[at] : kNoValue);
  }
  const std::vector<std::string> names(function.output().begin(), function.output().end());
  ATTUNE_RETURN_IF_ERROR(import_nodes(inside, function.node(), names));
  std::vector<ValueId> outputs;
  for (const std::string& name : names) {
    ATTUNE_ASSIGN(const std::optional<ValueId> value, inside.find(name));
    if (!value) return invalid(fmt::format("function output '{}' is never computed", name));
    outputs.push_back(*value);
  }
  return outputs;
}

Result<std::vector<ValueId>> convert(Scope& scope, const ::onnx::NodeProto& node,
                                     const std::vector<ValueId>& operands) {
  if (const auto* function = scope.model().find_function(node)) {
    return call_function(scope, node, *function, operands);
  }
  const Converter* converter = find_converter(domain_of(node.domain()), node.op_type());
  if (converter == nullptr) return unsupported("this operator is not supported");
  ATTUNE_RETURN_IF_ERROR(check_operands(*converter, operands));
  scope.site().builder.set_origin(!node.name().empty() || node.output_size() == 0 ? node.name()
                                                                                  : node.output(0));
  NodeContext context(scope, node, scope.opset(node.domain()), attributes_of(scope, node),
                      operands);
  auto results = converter->convert(context);
  if (context.failure()) return *context.failure();
  return results;
}

Status import_node(Scope& scope, const ::onnx::NodeProto& node) {
  if (--scope.model().nodes_left < 0) {
    return invalid("the model has too many nodes, functions and subgraphs being expanded");
  }
  auto operands = operands_of(scope, node);
  if (!operands.ok()) return in_node(node, operands.error());
  auto results = convert(scope, node, *operands);
  if (!results.ok()) return in_node(node, results.error());
  const Status defined = define_outputs(scope, node, *operands, *results);
  return defined.ok() ? defined : Status(in_node(node, defined.error()));
}

Status check_model(const ::onnx::ModelProto& proto) {
  if (!proto.has_graph()) return invalid("the model has no graph");
  if (proto.graph().output().empty()) return invalid("the model has no outputs");
  if (proto.ir_version() < 3) {
    return unsupported(fmt::format("IR version {} of ONNX is older than 3", proto.ir_version()));
  }
  const OpsetTable opsets = opset_table(proto.opset_import());
  const auto version = opsets.find("");
  if (version != opsets.end() && (version->second < 1 || version->second > kNewestOpset)) {
    return unsupported(fmt::format("operator set {} is not known, the newest is {}",
                                   version->second, kNewestOpset));
  }
  return {};
}

// Every output has a value of its own that carries its name.
Result<std::vector<ValueId>> name_outputs(Scope& scope, const ::onnx::GraphProto& graph,
                                          std::vector<ValueId> values) {
  graph::Builder& builder = scope.site().builder;
  std::set<ValueId> taken;
  for (int i = 0; i < graph.output_size(); ++i) {
    const std::string& name = graph.output(i).name();
    ValueId& value = values[static_cast<std::size_t>(i)];
    const bool is_input = scope.site().inputs.count(value) != 0;
    const bool keeps_name = builder.constant_of(value) != nullptr;
    if ((is_input || keeps_name || taken.count(value) != 0)) {
      builder.set_origin(name);
      ATTUNE_ASSIGN(value, builder.add("identity", {value}));
    }
    taken.insert(value);
  }
  return values;
}

// Gives the outputs their names of the model; whoever else has one of them gets another.
void rename_outputs(graph::Graph& graph, const std::vector<std::string>& output_names) {
  std::map<std::string, ValueId> wanted;
  for (std::size_t i = 0; i < output_names.size(); ++i) {
    wanted[output_names[i]] = graph.outputs[i];
  }
  std::set<std::string> names;
  for (const graph::Value& value : graph.values) names.insert(value.name);
  const std::set<ValueId> inputs(graph.inputs.begin(), graph.inputs.end());
  for (std::size_t v = 0; v < graph.values.size(); ++v) {
    const auto id = static_cast<ValueId>(v);
    const auto owner = wanted.find(graph.values[v].name);
    if (owner == wanted.end() || owner->second == id || inputs.count(id) != 0) continue;
    std::string name = graph.values[v].name;
    do name += "'";
    while (!names.insert(name).second);
    graph.values[v].name = name;
  }
  for (const auto& [name, value] : wanted) graph.value(value).name = name;
}

}  // namespace

Result<std::vector<ValueId>> import_graph(Scope& scope, const ::onnx::GraphProto& graph) {
  std::vector<std::string> names;
  for (const auto& output : graph.output()) names.push_back(output.name());
  ATTUNE_RETURN_IF_ERROR(import_nodes(scope, graph.node(), names));
  std::vector<ValueId> outputs;
  for (const std::string& name : names) {
    ATTUNE_ASSIGN(const std::optional<ValueId> value, scope.find(name));
    if (!value || *value == kNoValue) {
      return invalid(fmt::format("output '{}' is never computed", name));
    }
    if (*value == kUnsupportedOutput) {
      return unsupported(fmt::format("output '{}' is not supported", name));
    }
    outputs.push_back(*value);
  }
  return outputs;
}

Result<graph::Graph> import_model(const onnx_proto::ModelFile& file, const ImportOptions& options,
                                  ImportReport* report) {
  const ::onnx::ModelProto& proto = file.proto();
  ATTUNE_RETURN_IF_ERROR(check_model(proto));
  ImportReport unread;
  Model model{file, options, report != nullptr ? *report : unread};
  for (const auto& function : proto.functions()) {
    model.functions[{std::string(domain_of(function.domain())), function.name(),
                     function.overload()}] = &function;
  }
  ATTUNE_RETURN_IF_ERROR(check_operators(model));
  const std::string name = proto.graph().name().empty() ? "model" : proto.graph().name();
  Site site(name, model.folding(), nullptr);
  Scope scope(model, site, nullptr, opset_table(proto.opset_import()));
  ATTUNE_RETURN_IF_ERROR(scope.add_initialisers(proto.graph()));
  ATTUNE_RETURN_IF_ERROR(add_model_inputs(scope));
  ATTUNE_ASSIGN(std::vector<ValueId> outputs, import_graph(scope, proto.graph()));
  ATTUNE_ASSIGN(outputs, name_outputs(scope, proto.graph(), std::move(outputs)));
  graph::Graph graph = std::move(site.builder).finish(std::move(outputs));
  rename_outputs(graph, output_names(file));
  return graph;
}

}  // namespace attune::onnx
