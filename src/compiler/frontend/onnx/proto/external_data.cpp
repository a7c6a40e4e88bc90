#include "compiler/frontend/onnx/proto/external_data.h"

#include <fmt/format.h>

#include <charconv>
#include <filesystem>

#include "compiler/frontend/onnx/proto/onnx.pb.h"

namespace attune::onnx_proto {
namespace {

using Visit = std::function<Status(const ::onnx::TensorProto&)>;

Status visit_graph(const ::onnx::GraphProto& graph, const Visit& visit);

Status visit_sparse(const ::onnx::SparseTensorProto& tensor, const Visit& visit) {
  if (tensor.has_values()) ATTUNE_RETURN_IF_ERROR(visit(tensor.values()));
  if (tensor.has_indices()) ATTUNE_RETURN_IF_ERROR(visit(tensor.indices()));
  return {};
}

Status visit_attribute(const ::onnx::AttributeProto& attribute, const Visit& visit) {
  if (attribute.has_t()) ATTUNE_RETURN_IF_ERROR(visit(attribute.t()));
  for (const auto& tensor : attribute.tensors()) ATTUNE_RETURN_IF_ERROR(visit(tensor));
  if (attribute.has_sparse_tensor()) {
    ATTUNE_RETURN_IF_ERROR(visit_sparse(attribute.sparse_tensor(), visit));
  }
  for (const auto& tensor : attribute.sparse_tensors()) {
    ATTUNE_RETURN_IF_ERROR(visit_sparse(tensor, visit));
  }
  if (attribute.has_g()) ATTUNE_RETURN_IF_ERROR(visit_graph(attribute.g(), visit));
  for (const auto& graph : attribute.graphs()) ATTUNE_RETURN_IF_ERROR(visit_graph(graph, visit));
  return {};
}

Status visit_node(const ::onnx::NodeProto& node, const Visit& visit) {
  for (const auto& attribute : node.attribute()) {
    ATTUNE_RETURN_IF_ERROR(visit_attribute(attribute, visit));
  }
  return {};
}

Status visit_graph(const ::onnx::GraphProto& graph, const Visit& visit) {
  for (const auto& tensor : graph.initializer()) ATTUNE_RETURN_IF_ERROR(visit(tensor));
  for (const auto& tensor : graph.sparse_initializer()) {
    ATTUNE_RETURN_IF_ERROR(visit_sparse(tensor, visit));
  }
  for (const auto& node : graph.node()) ATTUNE_RETURN_IF_ERROR(visit_node(node, visit));
  return {};
}

Error wrong_entry(const ::onnx::TensorProto& tensor, std::string what) {
  return {ErrorCode::InvalidArgument,
          fmt::format("tensor '{}' keeps its data in a file beside the model, but {}",
                      tensor.name(), what),
          {}};
}

std::optional<std::uint64_t> parse_number(const std::string& text) {
  std::uint64_t value = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (problem != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// A path that, read from the model's directory, stays in it.
bool stays_inside(const std::string& location) {
  const std::filesystem::path path(location);
  if (path.is_absolute()) return false;
  const auto normal = path.lexically_normal();
  return !normal.empty() && *normal.begin() != ".." && normal != ".";
}

}  // namespace

Status for_each_tensor(const ::onnx::ModelProto& model, const Visit& visit) {
  ATTUNE_RETURN_IF_ERROR(visit_graph(model.graph(), visit));
  for (const auto& function : model.functions()) {
    for (const auto& node : function.node()) ATTUNE_RETURN_IF_ERROR(visit_node(node, visit));
    for (const auto& attribute : function.attribute_proto()) {
      ATTUNE_RETURN_IF_ERROR(visit_attribute(attribute, visit));
    }
  }
  return {};
}

Result<ExternalLocation> external_location(const ::onnx::TensorProto& tensor) {
  ExternalLocation location;
  for (const auto& entry : tensor.external_data()) {
    if (entry.key() == "location") location.file = entry.value();
    if (entry.key() != "offset" && entry.key() != "length") continue;
    const auto number = parse_number(entry.value());
    if (!number) {
      return wrong_entry(
          tensor, fmt::format("its {} '{}' is not a number of bytes", entry.key(), entry.value()));
    }
    (entry.key() == "offset" ? location.offset : location.length.emplace()) = *number;
  }
  if (location.file.empty()) return wrong_entry(tensor, "does not name the file");
  if (!stays_inside(location.file)) {
    return wrong_entry(tensor,
                       fmt::format("the path '{}' leaves the model's directory", location.file));
  }
  return location;
}

Result<std::span<const std::byte>> external_part(const ::onnx::TensorProto& tensor,
                                                 const ExternalLocation& location,
                                                 std::span<const std::byte> file) {
  const std::uint64_t size = file.size();
  const std::uint64_t rest = location.offset <= size ? size - location.offset : 0;
  const std::uint64_t length = location.length.value_or(rest);
  if (location.offset > size || length > rest) {
    return wrong_entry(tensor, fmt::format("it wants {} bytes from byte {} of '{}', which has {}",
                                           length, location.offset, location.file, size));
  }
  return file.subspan(location.offset, length);
}

}  // namespace attune::onnx_proto
