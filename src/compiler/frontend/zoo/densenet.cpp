// DenseNet with 121 layers (Huang et al. 2016): every layer reads the results of all before it.
#include "compiler/frontend/zoo/builder.h"
#include "compiler/frontend/zoo/models.h"

namespace attune::zoo {
namespace {

constexpr std::int64_t kGrowth = 32;

// Normalisation comes before activation and convolution, so only the one between the two
// convolutions can be folded.
Value dense_layer(Builder& b, const std::vector<Value>& features) {
  Value x = b.relu(b.batch_norm(b.concat(features, 1)));
  x = b.relu(b.conv(x, {.channels = 4 * kGrowth, .kernel = 1, .gain = 1}));
  return b.conv(x, {.channels = kGrowth, .kernel = 3, .pad = 1, .bias = false});
}

Value dense_block(Builder& b, const Value& x, int layers) {
  std::vector<Value> features{x};
  for (int i = 0; i < layers; ++i) features.push_back(dense_layer(b, features));
  return b.concat(features, 1);
}

// Halves channels and size.
Value transition(Builder& b, const Value& x) {
  const Value y =
      b.conv(b.relu(b.batch_norm(x)), {.channels = x.shape[1] / 2, .kernel = 1, .bias = false});
  return b.average_pool(y, {.kernel = 2, .stride = 2});
}

}  // namespace

::onnx::ModelProto densenet121() {
  Builder b("densenet121");
  Value x = b.input("input", {1, 3, 224, 224});
  x = b.relu(b.conv(x, {.channels = 64, .kernel = 7, .stride = 2, .pad = 3}));
  x = b.max_pool(x, {.kernel = 3, .stride = 2, .pad = 1});
  for (const int layers : {6, 12, 24}) x = transition(b, dense_block(b, x, layers));
  x = b.relu(b.batch_norm(dense_block(b, x, 16)));
  x = b.flatten(b.global_average_pool(x));
  b.output("output", b.gemm(x, 1000));
  return b.finish();
}

}  // namespace attune::zoo
