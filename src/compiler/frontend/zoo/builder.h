// Builds ONNX graphs the way PyTorch's exporter writes them in evaluation mode: one method per
// operator, values that know their shape, weights that come from a fixed seed and are scaled by
// their fan-in, so that activations neither vanish nor explode.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "compiler/frontend/onnx/proto/onnx.pb.h"

namespace attune::zoo {

using Shape = std::vector<std::int64_t>;

// A tensor of the graph under construction.
struct Value {
  std::string name;
  Shape shape;
};

// Height and width of a kernel or a padding; one number means both.
struct Extent {
  Extent(std::int64_t both) : h(both), w(both) {}
  Extent(std::int64_t height, std::int64_t width) : h(height), w(width) {}
  std::int64_t h;
  std::int64_t w;
};

struct ConvOptions {
  std::int64_t channels;
  Extent kernel;
  std::int64_t stride = 1;
  Extent pad = 0;
  std::int64_t groups = 1;
  // Variance of the output relative to the input's mean square: 2 keeps it through a ReLU.
  double gain = 2;
  bool bias = true;
};

struct PoolOptions {
  Extent kernel;
  std::int64_t stride = 1;
  Extent pad = 0;
  bool ceil = false;
};

class Builder {
 public:
  explicit Builder(const std::string& model);

  Value input(const std::string& name, const Shape& shape,
              ::onnx::TensorProto::DataType type = ::onnx::TensorProto::FLOAT);
  // Makes a value a result of the model, and renames it; after the last node that reads it.
  void output(const std::string& name, const Value& value);
  ::onnx::ModelProto finish();

  Value conv(const Value& x, const ConvOptions& options);
  Value conv_transpose(const Value& x, const ConvOptions& options);
  Value batch_norm(const Value& x);
  Value max_pool(const Value& x, const PoolOptions& options);
  Value average_pool(const Value& x, const PoolOptions& options);
  Value global_average_pool(const Value& x);
  Value relu(const Value& x);
  Value relu6(const Value& x);
  Value tanh(const Value& x);
  Value add(const Value& a, const Value& b);
  Value concat(const std::vector<Value>& parts, std::int64_t axis);
  Value flatten(const Value& x);
  // A dense layer on a matrix, as Gemm.
  Value gemm(const Value& x, std::int64_t features, double gain = 2);
  // A dense layer on the last axis of any tensor, as MatMul and Add.
  Value linear(const Value& x, std::int64_t features, double gain = 1);

  // Any other operator; the result has the given shape. Attributes of the node are added by the
  // functions below, which act on the node made last.
  Value node(const std::string& op, const std::vector<std::string>& inputs, const Shape& shape);
  // One with several results, named NAME.0, NAME.1, …
  std::vector<Value> node(const std::string& op, const std::vector<std::string>& inputs,
                          const std::vector<Shape>& shapes);
  void set(const std::string& attribute, std::int64_t value);
  void set(const std::string& attribute, float value);
  void set(const std::string& attribute, const Shape& values);

  // Constants. `bound` b: uniform in [-b, b).
  Value weights(const std::string& name, const Shape& shape, double bound);
  Value weights_between(const std::string& name, const Shape& shape, double low, double high);
  Value integers(const std::string& name, const std::vector<std::int64_t>& values);
  Value integer(const std::string& name, std::int64_t value);
  Value scalar(const std::string& name, float value);
  // The name of the next node of this kind, to call its weights after.
  std::string next_name(const std::string& op) const;

 private:
  ::onnx::TensorProto& initializer(const std::string& name, const Shape& shape,
                                   ::onnx::TensorProto::DataType type);
  void set_window(const PoolOptions& options);

  std::string model_name_;
  ::onnx::ModelProto model_;
  ::onnx::GraphProto& graph_;
  int nodes_ = 0;
};

}  // namespace attune::zoo
