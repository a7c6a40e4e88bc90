#include "compiler/frontend/zoo/builder.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <utility>

#include "base/check.h"
#include "base/hash.h"
#include "compiler/frontend/zoo/weights.h"

namespace attune::zoo {
namespace {

constexpr std::int64_t kIrVersion = 8;
constexpr std::int64_t kOpset = 17;
constexpr std::uint64_t kSeed = 20240229;

std::int64_t product(const Shape& shape) {
  std::int64_t count = 1;
  for (const auto dim : shape) count *= dim;
  return count;
}

// The bound of a uniform distribution whose sum over `fan_in` products has variance `gain`.
double bound_for(double gain, std::int64_t fan_in) {
  return std::sqrt(3.0 * gain / static_cast<double>(fan_in));
}

std::int64_t window_count(std::int64_t size, std::int64_t kernel, std::int64_t stride,
                          std::int64_t pad, bool ceil) {
  const std::int64_t room = size + 2 * pad - kernel;
  return (room + (ceil ? stride - 1 : 0)) / stride + 1;
}

Shape pooled_shape(const Value& x, const PoolOptions& options) {
  CHECK(x.shape.size() == 4, "pooling in the zoo is two-dimensional");
  const auto& [kernel, stride, pad, ceil] = options;
  return {x.shape[0], x.shape[1], window_count(x.shape[2], kernel.h, stride, pad.h, ceil),
          window_count(x.shape[3], kernel.w, stride, pad.w, ceil)};
}

void describe(::onnx::ValueInfoProto& info, const std::string& name, const Shape& shape,
              ::onnx::TensorProto::DataType type) {
  info.set_name(name);
  auto* tensor = info.mutable_type()->mutable_tensor_type();
  tensor->set_elem_type(type);
  for (const auto dim : shape) tensor->mutable_shape()->add_dim()->set_dim_value(dim);
}

}  // namespace

Builder::Builder(const std::string& model) : model_name_(model), graph_(*model_.mutable_graph()) {
  model_.set_ir_version(kIrVersion);
  model_.set_producer_name("attune");
  auto* opset = model_.add_opset_import();
  opset->set_domain("");
  opset->set_version(kOpset);
  graph_.set_name(model);
}

Value Builder::input(const std::string& name, const Shape& shape,
                     ::onnx::TensorProto::DataType type) {
  describe(*graph_.add_input(), name, shape, type);
  return {name, shape};
}

void Builder::output(const std::string& name, const Value& value) {
  // The node that makes the value calls it by the output's name; so do its other readers.
  for (auto& node : *graph_.mutable_node()) {
    for (auto& result : *node.mutable_output()) {
      if (result == value.name) result = name;
    }
    for (auto& operand : *node.mutable_input()) {
      if (operand == value.name) operand = name;
    }
  }
  describe(*graph_.add_output(), name, value.shape, ::onnx::TensorProto::FLOAT);
}

::onnx::ModelProto Builder::finish() { return std::move(model_); }

std::string Builder::next_name(const std::string& op) const {
  std::string name = op;
  std::transform(name.begin(), name.end(), name.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return fmt::format("{}_{}", name, nodes_);
}

Value Builder::node(const std::string& op, const std::vector<std::string>& inputs,
                    const Shape& shape) {
  auto results = node(op, inputs, std::vector<Shape>{shape});
  return std::move(results.front());
}

std::vector<Value> Builder::node(const std::string& op, const std::vector<std::string>& inputs,
                                 const std::vector<Shape>& shapes) {
  auto* made = graph_.add_node();
  made->set_name(next_name(op));
  made->set_op_type(op);
  for (const auto& name : inputs) made->add_input(name);
  std::vector<Value> results;
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    const auto name = shapes.size() == 1 ? made->name() : fmt::format("{}.{}", made->name(), i);
    made->add_output(name);
    results.push_back({name, shapes[i]});
  }
  ++nodes_;
  return results;
}

void Builder::set(const std::string& attribute, std::int64_t value) {
  auto* made = graph_.mutable_node(graph_.node_size() - 1)->add_attribute();
  made->set_name(attribute);
  made->set_type(::onnx::AttributeProto::INT);
  made->set_i(value);
}

void Builder::set(const std::string& attribute, float value) {
  auto* made = graph_.mutable_node(graph_.node_size() - 1)->add_attribute();
  made->set_name(attribute);
  made->set_type(::onnx::AttributeProto::FLOAT);
  made->set_f(value);
}

void Builder::set(const std::string& attribute, const Shape& values) {
  auto* made = graph_.mutable_node(graph_.node_size() - 1)->add_attribute();
  made->set_name(attribute);
  made->set_type(::onnx::AttributeProto::INTS);
  for (const auto value : values) made->add_ints(value);
}

::onnx::TensorProto& Builder::initializer(const std::string& name, const Shape& shape,
                                          ::onnx::TensorProto::DataType type) {
  auto* tensor = graph_.add_initializer();
  tensor->set_name(name);
  tensor->set_data_type(type);
  for (const auto dim : shape) tensor->add_dims(dim);
  return *tensor;
}

Value Builder::weights(const std::string& name, const Shape& shape, double bound) {
  return weights_between(name, shape, -bound, bound);
}

Value Builder::weights_between(const std::string& name, const Shape& shape, double low,
                               double high) {
  const std::uint64_t seed = hash_bytes(name, hash_bytes(model_name_, kSeed));
  *initializer(name, shape, ::onnx::TensorProto::FLOAT).mutable_raw_data() =
      uniform_floats(seed, static_cast<std::size_t>(product(shape)), static_cast<float>(low),
                     static_cast<float>(high - low));
  return {name, shape};
}

Value Builder::integers(const std::string& name, const std::vector<std::int64_t>& values) {
  const Shape shape{static_cast<std::int64_t>(values.size())};
  initializer(name, shape, ::onnx::TensorProto::INT64)
      .set_raw_data(values.data(), values.size() * sizeof(std::int64_t));
  return {name, shape};
}

Value Builder::integer(const std::string& name, std::int64_t value) {
  initializer(name, {}, ::onnx::TensorProto::INT64).set_raw_data(&value, sizeof value);
  return {name, {}};
}

Value Builder::scalar(const std::string& name, float value) {
  initializer(name, {}, ::onnx::TensorProto::FLOAT).set_raw_data(&value, sizeof value);
  return {name, {}};
}

void Builder::set_window(const PoolOptions& options) {
  set("kernel_shape", Shape{options.kernel.h, options.kernel.w});
  set("strides", Shape{options.stride, options.stride});
  set("pads", Shape{options.pad.h, options.pad.w, options.pad.h, options.pad.w});
}

Value Builder::conv(const Value& x, const ConvOptions& options) {
  const auto& [channels, kernel, stride, pad, groups, gain, bias] = options;
  const std::int64_t inputs = x.shape[1] / groups;
  const std::string name = next_name("Conv");
  std::vector<std::string> operands{x.name};
  operands.push_back(weights(name + ".weight", {channels, inputs, kernel.h, kernel.w},
                             bound_for(gain, inputs * kernel.h * kernel.w))
                         .name);
  if (bias) operands.push_back(weights(name + ".bias", {channels}, 0.1).name);
  Shape shape = pooled_shape(x, {kernel, stride, pad, false});
  shape[1] = channels;
  Value result = node("Conv", operands, shape);
  set("dilations", Shape{1, 1});
  set("group", groups);
  set_window({kernel, stride, pad});
  return result;
}

Value Builder::conv_transpose(const Value& x, const ConvOptions& options) {
  const auto& [channels, kernel, stride, pad, groups, gain, bias] = options;
  CHECK(groups == 1 && !bias, "the zoo's transposed convolutions are plain");
  const std::string name = next_name("ConvTranspose");
  // Each output element sums over the taps that meet it, a stride-th of them in each direction.
  const std::int64_t fan_in = std::max<std::int64_t>(
      1, x.shape[1] * kernel.h * kernel.w / (stride * stride * (x.shape[2] == 1 ? 16 : 1)));
  const Value filter = weights(name + ".weight", {x.shape[1], channels, kernel.h, kernel.w},
                               bound_for(gain, fan_in));
  const Shape shape{x.shape[0], channels, (x.shape[2] - 1) * stride - 2 * pad.h + kernel.h,
                    (x.shape[3] - 1) * stride - 2 * pad.w + kernel.w};
  Value result = node("ConvTranspose", {x.name, filter.name}, shape);
  set("dilations", Shape{1, 1});
  set("group", groups);
  set_window({kernel, stride, pad});
  return result;
}

Value Builder::batch_norm(const Value& x) {
  const std::string name = next_name("BatchNormalization");
  const Shape channels{x.shape[1]};
  const Value scale = weights_between(name + ".weight", channels, 0.5, 1.5);
  const Value shift = weights(name + ".bias", channels, 0.2);
  const Value mean = weights(name + ".running_mean", channels, 0.2);
  const Value variance = weights_between(name + ".running_var", channels, 0.5, 1.5);
  Value result = node("BatchNormalization",
                      {x.name, scale.name, shift.name, mean.name, variance.name}, x.shape);
  set("epsilon", 1e-5f);
  set("momentum", 0.9f);
  return result;
}

Value Builder::max_pool(const Value& x, const PoolOptions& options) {
  Value result = node("MaxPool", {x.name}, pooled_shape(x, options));
  set("ceil_mode", std::int64_t{options.ceil});
  set_window(options);
  return result;
}

Value Builder::average_pool(const Value& x, const PoolOptions& options) {
  Value result = node("AveragePool", {x.name}, pooled_shape(x, options));
  set("ceil_mode", std::int64_t{options.ceil});
  set("count_include_pad", std::int64_t{1});
  set_window(options);
  return result;
}

Value Builder::global_average_pool(const Value& x) {
  return node("GlobalAveragePool", {x.name}, Shape{x.shape[0], x.shape[1], 1, 1});
}

Value Builder::relu(const Value& x) { return node("Relu", {x.name}, x.shape); }
Value Builder::tanh(const Value& x) { return node("Tanh", {x.name}, x.shape); }

Value Builder::relu6(const Value& x) {
  const std::string name = next_name("Clip");
  const Value low = scalar(name + ".min", 0);
  const Value high = scalar(name + ".max", 6);
  return node("Clip", {x.name, low.name, high.name}, x.shape);
}

Value Builder::add(const Value& a, const Value& b) {
  const bool wide = a.shape.size() >= b.shape.size();
  return node("Add", {a.name, b.name}, wide ? a.shape : b.shape);
}

Value Builder::concat(const std::vector<Value>& parts, std::int64_t axis) {
  std::vector<std::string> names;
  Shape shape = parts.front().shape;
  auto& extent = shape[static_cast<std::size_t>(axis)];
  extent = 0;
  for (const Value& part : parts) {
    names.push_back(part.name);
    extent += part.shape[static_cast<std::size_t>(axis)];
  }
  Value result = node("Concat", names, shape);
  set("axis", axis);
  return result;
}

Value Builder::flatten(const Value& x) {
  Value result = node("Flatten", {x.name}, Shape{x.shape[0], product(x.shape) / x.shape[0]});
  set("axis", std::int64_t{1});
  return result;
}

Value Builder::gemm(const Value& x, std::int64_t features, double gain) {
  const std::string name = next_name("Gemm");
  const Value matrix =
      weights(name + ".weight", {features, x.shape[1]}, bound_for(gain, x.shape[1]));
  const Value bias = weights(name + ".bias", {features}, 0.1);
  Value result = node("Gemm", {x.name, matrix.name, bias.name}, Shape{x.shape[0], features});
  set("alpha", 1.0f);
  set("beta", 1.0f);
  set("transB", std::int64_t{1});
  return result;
}

Value Builder::linear(const Value& x, std::int64_t features, double gain) {
  const std::string name = next_name("MatMul");
  const std::int64_t inputs = x.shape.back();
  const Value matrix = weights(name + ".weight", {inputs, features}, bound_for(gain, inputs));
  const Value bias = weights(name + ".bias", {features}, 0.1);
  Shape shape = x.shape;
  shape.back() = features;
  const Value product_value = node("MatMul", {x.name, matrix.name}, shape);
  return node("Add", {bias.name, product_value.name}, shape);
}

}  // namespace attune::zoo
