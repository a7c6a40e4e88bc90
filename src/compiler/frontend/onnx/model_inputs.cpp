// Inputs of a model with their shapes: fixed in the model, given by the caller, or symbols whose
// values the caller's shapes settle.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "compiler/frontend/onnx/scope.h"

namespace attune::onnx {
namespace {

// No tensor of a model may have more bytes.
constexpr std::int64_t kLargestTensorBytes = std::int64_t{1} << 40;

using Dimension = ::onnx::TensorShapeProto::Dimension;

class ModelInputs {
 public:
  explicit ModelInputs(Scope& scope) : scope_(scope), options_(scope.model().options) {}

  Status run(const ::onnx::GraphProto& graph) {
    for (const auto& input : graph.input()) {
      if (!scope_.has_initialiser(input.name())) ATTUNE_RETURN_IF_ERROR(bind_symbols(input));
    }
    ATTUNE_RETURN_IF_ERROR(check_names(graph));
    for (const auto& input : graph.input()) {
      if (!scope_.has_initialiser(input.name())) ATTUNE_RETURN_IF_ERROR(add(input));
    }
    return {};
  }

 private:
  // The shape that the caller gives, if any.
  const std::vector<std::int64_t>* given_shape(const std::string& name) const {
    if (const auto found = options_.constants.find(name); found != options_.constants.end()) {
      return &found->second->type.shape;
    }
    const auto found = options_.shapes.find(name);
    return found == options_.shapes.end() ? nullptr : &found->second;
  }

  Status bind_symbols(const ::onnx::ValueInfoProto& input) {
    const std::vector<std::int64_t>* given = given_shape(input.name());
    if (given == nullptr || !input.type().tensor_type().has_shape()) return {};
    const auto& dims = input.type().tensor_type().shape().dim();
    if (static_cast<std::size_t>(dims.size()) != given->size()) {
      return invalid(
          fmt::format("input '{}' has {} dimensions, the shape given for it, [{}], has {}",
                      input.name(), dims.size(), fmt::join(*given, ","), given->size()));
    }
    for (int d = 0; d < dims.size(); ++d) {
      const std::int64_t extent = (*given)[static_cast<std::size_t>(d)];
      if (extent < 0) {
        return invalid(fmt::format("dimension {} of input '{}' is {}, must not be negative", d,
                                   input.name(), extent));
      }
      if (dims[d].has_dim_value() && dims[d].dim_value() > 0 && dims[d].dim_value() != extent) {
        return invalid(fmt::format("dimension {} of input '{}' is {} in the model, not {}", d,
                                   input.name(), dims[d].dim_value(), extent));
      }
      if (dims[d].dim_param().empty()) continue;
      // Exporters give one name to different things: then it says nothing about other inputs.
      const auto [entry, is_new] = symbols_.emplace(dims[d].dim_param(), extent);
      if (!is_new && entry->second != extent) entry->second.reset();
    }
    return {};
  }

  Status check_names(const ::onnx::GraphProto& graph) const {
    std::map<std::string, int> count;
    for (const auto& input : graph.input()) {
      if (input.name().empty()) return invalid("an input of the model has no name");
      if (++count[input.name()] > 1) {
        return invalid(fmt::format("two inputs are named '{}'", input.name()));
      }
    }
    const auto unknown = [&](const std::string& name) {
      return invalid(
          fmt::format("the model has no input '{}'", name),
          fmt::format("its inputs are {}", fmt::join(input_names(scope_.model().file), ", ")));
    };
    for (const auto& [name, shape] : options_.shapes) {
      if (count[name] == 0) return unknown(name);
    }
    for (const auto& [name, constant] : options_.constants) {
      if (count[name] == 0) return unknown(name);
    }
    for (const auto& [name, most] : options_.maxima) {
      if (count[name] == 0) return unknown(name);
    }
    return {};
  }

  // The value of one dimension; nothing if nobody says it.
  std::optional<std::int64_t> extent_of(const Dimension& dim) const {
    if (dim.has_dim_value() && dim.dim_value() > 0) return dim.dim_value();
    const auto symbol = symbols_.find(dim.dim_param());
    return symbol == symbols_.end() ? std::nullopt : symbol->second;
  }

  Result<std::vector<std::int64_t>> shape_of(const ::onnx::ValueInfoProto& input) const {
    if (const auto* given = given_shape(input.name())) return *given;
    const auto& tensor = input.type().tensor_type();
    if (!tensor.has_shape()) {
      return invalid(fmt::format("input '{}' has no shape", input.name()),
                     fmt::format("give one: --shape {}=…", input.name()));
    }
    std::vector<std::int64_t> shape;
    std::optional<Error> missing;
    std::vector<std::string> example;
    for (const Dimension& dim : tensor.shape().dim()) {
      const std::optional<std::int64_t> extent = extent_of(dim);
      example.push_back(extent                ? std::to_string(*extent)
                        : dim.has_dim_param() ? dim.dim_param()
                                              : "?");
      shape.push_back(extent.value_or(0));
      if (extent || missing) continue;
      const std::size_t d = shape.size() - 1;
      missing = invalid(
          dim.has_dim_param() && !dim.dim_param().empty()
              ? fmt::format("dimension {} of input '{}' is the symbol '{}', which has no value", d,
                            input.name(), dim.dim_param())
          : dim.has_dim_value()
              ? fmt::format("dimension {} of input '{}' is {}, must be positive", d, input.name(),
                            dim.dim_value())
              : fmt::format("dimension {} of input '{}' is not known", d, input.name()));
    }
    if (!missing) return shape;
    missing->hint = fmt::format("give the shape: --shape {}={}, with numbers throughout",
                                input.name(), fmt::join(example, ","));
    return *missing;
  }

  Result<TensorType> type_of(const ::onnx::ValueInfoProto& input) const {
    if (!input.type().has_tensor_type()) {
      return unsupported(fmt::format("input '{}' is no tensor", input.name()));
    }
    auto dtype = element_type(input.type().tensor_type().elem_type());
    if (!dtype.ok()) {
      return unsupported(fmt::format("input '{}': {}", input.name(), dtype.error().message));
    }
    ATTUNE_ASSIGN(std::vector<std::int64_t> shape, shape_of(input));
    std::int64_t bytes = dtype->element_bytes();
    for (const std::int64_t extent : shape) {
      if (extent < 0 || __builtin_mul_overflow(bytes, extent, &bytes) ||
          bytes > kLargestTensorBytes) {
        return invalid(fmt::format("input '{}' of shape [{}] is too large", input.name(),
                                   fmt::join(shape, ",")));
      }
    }
    return TensorType{*dtype, std::move(shape), {}};
  }

  Status add(const ::onnx::ValueInfoProto& input) {
    auto type = type_of(input);
    if (!type.ok()) return type.error();
    graph::Builder& builder = scope_.site().builder;
    const auto constant = options_.constants.find(input.name());
    if (constant == options_.constants.end()) {
      const ValueId value = builder.input(input.name(), *type);
      scope_.site().inputs.emplace(value, input.name());
      scope_.define(input.name(), value);
      return add_maximum(input.name(), value);
    }
    const ops::ConstantPtr value = ops::converted(*constant->second, *type);
    if (value == nullptr) {
      return invalid(fmt::format("input '{}' is {}, the value given for it is {}", input.name(),
                                 ops::to_string(*type), ops::to_string(constant->second->type)));
    }
    scope_.define(input.name(), builder.constant(value, input.name()));
    return {};
  }

  Status add_maximum(const std::string& name, ValueId value) {
    const auto found = options_.maxima.find(name);
    if (found == options_.maxima.end()) return {};
    const TensorType& type = scope_.site().builder.type(value);
    const auto count = static_cast<std::int64_t>(found->second.size());
    if (!type.dtype.is_int() || count == 0 || (count != 1 && count != type.elements())) {
      return invalid(fmt::format("input '{}' is {}, and {} largest values are given for it", name,
                                 ops::to_string(type), count),
                     "give one for all elements, or one for each, of an input with whole numbers");
    }
    scope_.site().maxima.emplace(value, found->second);
    return {};
  }

  Scope& scope_;
  const ImportOptions& options_;
  std::map<std::string, std::optional<std::int64_t>> symbols_;
};

}  // namespace

Status add_model_inputs(Scope& scope) {
  return ModelInputs(scope).run(scope.model().file.proto().graph());
}

std::vector<std::string> input_names(const onnx_proto::ModelFile& model) {
  const ::onnx::GraphProto& graph = model.proto().graph();
  std::map<std::string, bool> constant;
  for (const auto& tensor : graph.initializer()) constant[tensor.name()] = true;
  for (const auto& tensor : graph.sparse_initializer()) constant[tensor.values().name()] = true;
  std::vector<std::string> names;
  for (const auto& input : graph.input()) {
    if (!constant[input.name()]) names.push_back(input.name());
  }
  return names;
}

}  // namespace attune::onnx
