// Attributes and subgraphs of a node.
#include <fmt/format.h>

#include "compiler/frontend/onnx/scope.h"

namespace attune::onnx {
namespace {

using ::onnx::AttributeProto;

// Old models leave the type out; the field that is set says it then.
int type_of(const AttributeProto& attribute) {
  if (attribute.has_type() && attribute.type() != AttributeProto::UNDEFINED) {
    return attribute.type();
  }
  if (attribute.has_f()) return AttributeProto::FLOAT;
  if (attribute.has_i()) return AttributeProto::INT;
  if (attribute.has_s()) return AttributeProto::STRING;
  if (attribute.has_t()) return AttributeProto::TENSOR;
  if (attribute.has_g()) return AttributeProto::GRAPH;
  if (attribute.has_sparse_tensor()) return AttributeProto::SPARSE_TENSOR;
  if (attribute.floats_size() > 0) return AttributeProto::FLOATS;
  if (attribute.ints_size() > 0) return AttributeProto::INTS;
  if (attribute.strings_size() > 0) return AttributeProto::STRINGS;
  return AttributeProto::UNDEFINED;
}

std::string_view type_name(int type) {
  switch (type) {
    case AttributeProto::FLOAT:
      return "a float";
    case AttributeProto::INT:
      return "an integer";
    case AttributeProto::STRING:
      return "a string";
    case AttributeProto::TENSOR:
      return "a tensor";
    case AttributeProto::GRAPH:
      return "a graph";
    case AttributeProto::FLOATS:
      return "a list of floats";
    case AttributeProto::INTS:
      return "a list of integers";
    case AttributeProto::STRINGS:
      return "a list of strings";
    case AttributeProto::SPARSE_TENSOR:
      return "a sparse tensor";
    default:
      return "of another type";
  }
}

bool is_list(int type) {
  return type == AttributeProto::FLOATS || type == AttributeProto::INTS ||
         type == AttributeProto::STRINGS;
}

}  // namespace

const AttributeProto* NodeContext::find(std::string_view key, int type) {
  const auto found = attributes_.find(key);
  if (found == attributes_.end()) return nullptr;
  const int actual = type_of(*found->second);
  if (actual == type || (actual == AttributeProto::UNDEFINED && is_list(type))) {
    return found->second;
  }
  fail(invalid(
      fmt::format("attribute '{}' is {}, must be {}", key, type_name(actual), type_name(type))));
  return nullptr;
}

std::int64_t NodeContext::integer(std::string_view key, std::int64_t fallback) {
  const AttributeProto* attribute = find(key, AttributeProto::INT);
  return attribute != nullptr ? attribute->i() : fallback;
}

double NodeContext::real(std::string_view key, double fallback) {
  const AttributeProto* attribute = find(key, AttributeProto::FLOAT);
  return attribute != nullptr ? attribute->f() : fallback;
}

std::string NodeContext::word(std::string_view key, std::string_view fallback) {
  const AttributeProto* attribute = find(key, AttributeProto::STRING);
  return attribute != nullptr ? attribute->s() : std::string(fallback);
}

std::optional<std::vector<std::int64_t>> NodeContext::integers(std::string_view key) {
  const AttributeProto* attribute = find(key, AttributeProto::INTS);
  if (attribute == nullptr) return std::nullopt;
  return std::vector<std::int64_t>(attribute->ints().begin(), attribute->ints().end());
}

std::optional<std::vector<double>> NodeContext::reals(std::string_view key) {
  const AttributeProto* attribute = find(key, AttributeProto::FLOATS);
  if (attribute == nullptr) return std::nullopt;
  return std::vector<double>(attribute->floats().begin(), attribute->floats().end());
}

std::vector<std::string> NodeContext::words(std::string_view key) {
  const AttributeProto* attribute = find(key, AttributeProto::STRINGS);
  if (attribute == nullptr) return {};
  return {attribute->strings().begin(), attribute->strings().end()};
}

Result<ConstantPtr> NodeContext::tensor(std::string_view key) {
  const AttributeProto* attribute = find(key, AttributeProto::TENSOR);
  if (attribute == nullptr) return invalid(fmt::format("it has no attribute '{}'", key));
  return constant_of(scope_.model().file, attribute->t());
}

Result<ConstantPtr> NodeContext::sparse_tensor(std::string_view key) {
  const AttributeProto* attribute = find(key, AttributeProto::SPARSE_TENSOR);
  if (attribute == nullptr) return invalid(fmt::format("it has no attribute '{}'", key));
  return constant_of(scope_.model().file, attribute->sparse_tensor(),
                     *scope_.model().made_bytes_left);
}

namespace {

Status check_inputs(const ::onnx::GraphProto& graph, std::size_t handed) {
  if (static_cast<std::size_t>(graph.input_size()) == handed) return {};
  return invalid(
      fmt::format("its subgraph has {} inputs, must have {}", graph.input_size(), handed));
}

}  // namespace

Result<Body> NodeContext::body(std::string_view key, const std::vector<TensorType>& handed,
                               const std::vector<ConstantPtr>& known) {
  const AttributeProto* attribute = find(key, AttributeProto::GRAPH);
  if (attribute == nullptr) return invalid(fmt::format("it has no attribute '{}'", key));
  const ::onnx::GraphProto& proto = attribute->g();
  ATTUNE_RETURN_IF_ERROR(check_inputs(proto, handed.size()));
  Site site(proto.name().empty() ? std::string(key) : proto.name(), scope_.model().folding(),
            &scope_.site());
  Scope inside(scope_.model(), site, &scope_, scope_.opsets());
  ATTUNE_RETURN_IF_ERROR(inside.add_initialisers(proto));
  for (std::size_t i = 0; i < handed.size(); ++i) {
    const std::string& name = proto.input(static_cast<int>(i)).name();
    const bool is_known = i < known.size() && known[i] != nullptr;
    inside.define(name, is_known ? site.builder.constant(known[i], name)
                                 : site.builder.input(name, handed[i]));
  }
  ATTUNE_ASSIGN(std::vector<ValueId> outputs, import_graph(inside, proto));
  Body result;
  result.captures = site.captures;
  result.graph =
      std::make_shared<const graph::Graph>(std::move(site.builder).finish(std::move(outputs)));
  return result;
}

Result<std::vector<ValueId>> NodeContext::inline_body(std::string_view key,
                                                      const std::vector<ValueId>& handed) {
  const AttributeProto* attribute = find(key, AttributeProto::GRAPH);
  if (attribute == nullptr) return invalid(fmt::format("it has no attribute '{}'", key));
  const ::onnx::GraphProto& proto = attribute->g();
  ATTUNE_RETURN_IF_ERROR(check_inputs(proto, handed.size()));
  Scope inside(scope_.model(), scope_.site(), &scope_, scope_.opsets());
  ATTUNE_RETURN_IF_ERROR(inside.add_initialisers(proto));
  for (std::size_t i = 0; i < handed.size(); ++i) {
    inside.define(proto.input(static_cast<int>(i)).name(), handed[i]);
  }
  return import_graph(inside, proto);
}

std::vector<int> NodeContext::passed_through(std::string_view key) {
  const AttributeProto* attribute = find(key, AttributeProto::GRAPH);
  if (attribute == nullptr) return {};
  const ::onnx::GraphProto& proto = attribute->g();
  std::map<std::string, int> origin;  // of names: the input that they stand for
  for (int i = 0; i < proto.input_size(); ++i) origin[proto.input(i).name()] = i;
  bool is_new = true;
  while (is_new) {  // nodes may stand in any order
    is_new = false;
    for (const auto& node : proto.node()) {
      if (node.op_type() != "Identity" || node.input_size() != 1 || node.output_size() != 1) {
        continue;
      }
      const auto from = origin.find(node.input(0));
      if (from != origin.end()) is_new |= origin.emplace(node.output(0), from->second).second;
    }
  }
  std::vector<int> inputs;
  for (const auto& output : proto.output()) {
    const auto found = origin.find(output.name());
    inputs.push_back(found == origin.end() ? -1 : found->second);
  }
  return inputs;
}

std::size_t NodeContext::body_output_count(std::string_view key) {
  const AttributeProto* attribute = find(key, AttributeProto::GRAPH);
  return attribute == nullptr ? 0 : static_cast<std::size_t>(attribute->g().output_size());
}

}  // namespace attune::onnx
