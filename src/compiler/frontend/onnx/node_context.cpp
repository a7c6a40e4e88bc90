#include "compiler/frontend/onnx/node_context.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "compiler/frontend/onnx/scope.h"

namespace attune::onnx {

NodeContext::NodeContext(Scope& scope, const ::onnx::NodeProto& node, int opset,
                         AttributeTable attributes, std::vector<ValueId> inputs)
    : scope_(scope),
      node_(node),
      opset_(opset),
      attributes_(std::move(attributes)),
      inputs_(std::move(inputs)) {}

const std::string& NodeContext::op() const { return node_.op_type(); }

std::string NodeContext::label() const { return label_of(node_); }

const std::string& NodeContext::input_name(std::size_t i) const {
  CHECK(i < inputs_.size(), "the node has such an input");
  return node_.input(static_cast<int>(i));
}

std::size_t NodeContext::output_count() const {
  return static_cast<std::size_t>(node_.output_size());
}

bool NodeContext::wants_output(std::size_t i) const {
  return i < output_count() && !node_.output(static_cast<int>(i)).empty();
}

std::optional<std::vector<std::int64_t>> NodeContext::declared_shape(std::size_t i) const {
  if (scope_.depth() != 0 || !wants_output(i)) return std::nullopt;
  const ::onnx::GraphProto& graph = scope_.model().file.proto().graph();
  for (const auto* list : {&graph.output(), &graph.value_info()}) {
    for (const auto& info : *list) {
      if (info.name() != node_.output(static_cast<int>(i))) continue;
      if (!info.type().tensor_type().has_shape()) return std::nullopt;
      std::vector<std::int64_t> shape;
      for (const auto& dim : info.type().tensor_type().shape().dim()) {
        if (!dim.has_dim_value() || dim.dim_value() < 0) return std::nullopt;
        shape.push_back(dim.dim_value());
      }
      return shape;
    }
  }
  return std::nullopt;
}

void NodeContext::fail(Error error) {
  if (!failure_) failure_ = std::move(error);
}

graph::Builder& NodeContext::builder() { return scope_.site().builder; }

const TensorType& NodeContext::type(ValueId value) {
  static const TensorType absent{ir::kF32, {0}, {}};
  return value == kNoValue ? absent : builder().type(value);
}

Result<ValueId> NodeContext::add(std::string op, std::vector<ValueId> inputs,
                                 Attributes attributes) {
  return builder().add(std::move(op), std::move(inputs), std::move(attributes));
}

ValueId NodeContext::make(std::string op, std::vector<ValueId> inputs, Attributes attributes) {
  if (failed()) return kNoValue;
  auto value = add(std::move(op), std::move(inputs), std::move(attributes));
  if (value.ok()) return *value;
  fail(value.error());
  return kNoValue;
}

ValueId NodeContext::constant(ConstantPtr value) { return builder().constant(std::move(value)); }

ValueId NodeContext::scalar(ir::DType type, double value) {
  return constant(ops::scalar_constant(type, value));
}

ValueId NodeContext::integers_constant(const std::vector<std::int64_t>& values) {
  return constant(ops::make_constant(values));
}

Result<ValueId> NodeContext::filled(ir::DType type, std::vector<std::int64_t> extents,
                                    double value) {
  return add("expand", {scalar(type, value)}, {{"shape", std::move(extents)}});
}

Status NodeContext::count_made(ir::DType type, const std::vector<std::int64_t>& extents) {
  std::int64_t bytes = type.element_bytes();
  std::int64_t& left = *scope_.model().made_bytes_left;
  for (const std::int64_t extent : extents) {
    if (extent < 0 || __builtin_mul_overflow(bytes, extent, &bytes)) bytes = left + 1;
    if (bytes > left) {
      return invalid(
          fmt::format("a constant {}[{}] that is not in the file would take too much memory",
                      ir::to_string(type), fmt::join(extents, ",")));
    }
  }
  left -= bytes;
  return {};
}

Result<ValueId> NodeContext::reshape(ValueId value, std::vector<std::int64_t> new_shape) {
  if (shape(value) == new_shape) return value;
  return add("reshape", {value}, {{"shape", std::move(new_shape)}});
}

Result<ValueId> NodeContext::cast(ValueId value, ir::DType to) {
  if (dtype(value) == to) return value;
  return add("cast", {value}, {{"to", ir::to_string(to)}});
}

Result<ConstantPtr> NodeContext::constant_input(std::size_t i, std::string_view role) {
  const ValueId value = input(i);
  if (value == kNoValue) return invalid(fmt::format("input '{}' is left out", role));
  if (ConstantPtr constant = builder().constant_of(value)) return constant;
  std::vector<std::string> needed = scope_.site().model_inputs(value);
  std::string message = fmt::format("input '{}' ('{}') must be known when the model is compiled",
                                    role, input_name(i));
  if (needed.empty()) return unsupported(std::move(message));
  message += fmt::format(", but depends on input '{}' of the model", needed.front());
  std::string hint = fmt::format("give it a value: --constant {}=VALUE", needed.front());
  scope_.model().report.needed_constants = std::move(needed);
  return unsupported(std::move(message), std::move(hint));
}

Result<std::vector<std::int64_t>> NodeContext::integers_input(std::size_t i,
                                                              std::string_view role) {
  ATTUNE_ASSIGN(const ConstantPtr constant, constant_input(i, role));
  if (!constant->type.dtype.is_int()) {
    return invalid(
        fmt::format("input '{}' is {}, must have integers", role, ops::to_string(constant->type)));
  }
  if (constant->type.rank() > 1) {
    return invalid(fmt::format("input '{}' is {}, must have one dimension", role,
                               ops::to_string(constant->type)));
  }
  return ops::integers(*constant);
}

Result<std::int64_t> NodeContext::integer_input(std::size_t i, std::string_view role) {
  ATTUNE_ASSIGN(const std::vector<std::int64_t> values, integers_input(i, role));
  if (values.size() != 1) {
    return invalid(fmt::format("input '{}' has {} elements, must have 1", role, values.size()));
  }
  return values.front();
}

std::optional<Bounds> NodeContext::find_bounds(std::size_t i) {
  return bounds_of(builder().graph(), input(i), scope_.site().maxima);
}

Result<Bounds> NodeContext::bounds_input(std::size_t i, std::string_view role) {
  if (std::optional<Bounds> bounds = find_bounds(i)) return std::move(*bounds);
  const auto known = constant_input(i, role);
  if (known.ok()) return invalid(fmt::format("input '{}' has too many elements", role));
  Error error = known.error();
  const std::vector<std::string>& needed = scope_.model().report.needed_constants;
  if (!needed.empty()) {
    error.hint += fmt::format(", or say how large it can be: --max {}=N", needed.front());
  }
  return error;
}

Result<std::int64_t> NodeContext::axis(std::int64_t value, int rank) const {
  if (value >= -rank && value < rank) return value < 0 ? value + rank : value;
  return invalid(fmt::format("axis {} is out of range for {} dimensions", value, rank));
}

Result<std::vector<std::int64_t>> NodeContext::axes(std::vector<std::int64_t> values,
                                                    int rank) const {
  for (std::size_t i = 0; i < values.size(); ++i) {
    ATTUNE_ASSIGN(values[i], axis(values[i], rank));
    for (std::size_t j = 0; j < i; ++j) {
      if (values[i] == values[j]) return invalid(fmt::format("axis {} is named twice", values[i]));
    }
  }
  return values;
}

}  // namespace attune::onnx
