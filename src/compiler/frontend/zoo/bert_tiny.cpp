// A small BERT encoder (Devlin et al. 2018; sizes of the "mini" model of Turc et al. 2019): 4
// layers, 256 wide, 4 heads, 128 tokens, written the way exporters spell it.
#include <cmath>

#include "compiler/frontend/zoo/builder.h"
#include "compiler/frontend/zoo/models.h"

namespace attune::zoo {
namespace {

constexpr std::int64_t kTokens = 128;
constexpr std::int64_t kWidth = 256;
constexpr std::int64_t kHeads = 4;
constexpr std::int64_t kHeadWidth = kWidth / kHeads;
constexpr std::int64_t kLayers = 4;
constexpr std::int64_t kVocabulary = 30522;

Value layer_norm(Builder& b, const Value& x) {
  const std::string name = b.next_name("LayerNormalization");
  const Value scale = b.weights_between(name + ".weight", {kWidth}, 0.5, 1.5);
  const Value shift = b.weights(name + ".bias", {kWidth}, 0.1);
  const Value result = b.node("LayerNormalization", {x.name, scale.name, shift.name}, x.shape);
  b.set("axis", std::int64_t{-1});
  b.set("epsilon", 1e-12f);
  return result;
}

Value reshape(Builder& b, const Value& x, const Shape& shape) {
  const Value target = b.integers(b.next_name("Reshape") + ".shape", shape);
  return b.node("Reshape", {x.name, target.name}, shape);
}

Value transpose(Builder& b, const Value& x, const Shape& order) {
  Shape shape;
  for (const auto axis : order) shape.push_back(x.shape[static_cast<std::size_t>(axis)]);
  const Value result = b.node("Transpose", {x.name}, shape);
  b.set("perm", order);
  return result;
}

Value divide(Builder& b, const Value& x, float by) {
  const Value divisor = b.scalar(b.next_name("Div") + ".divisor", by);
  return b.node("Div", {x.name, divisor.name}, x.shape);
}

// Half of x (1 + erf(x / sqrt 2)), as PyTorch exports GELU.
Value gelu(Builder& b, const Value& x) {
  const Value erf = b.node("Erf", {divide(b, x, std::sqrt(2.0f)).name}, x.shape);
  const Value one = b.scalar(b.next_name("Add") + ".one", 1);
  const Value sum = b.node("Add", {erf.name, one.name}, x.shape);
  const Value scaled = b.node("Mul", {x.name, sum.name}, x.shape);
  const Value half = b.scalar(b.next_name("Mul") + ".half", 0.5f);
  return b.node("Mul", {scaled.name, half.name}, x.shape);
}

Value heads_of(Builder& b, const Value& x) {
  return reshape(b, b.linear(x, kWidth), {1, kTokens, kHeads, kHeadWidth});
}

Value attention(Builder& b, const Value& x) {
  const Value query = transpose(b, heads_of(b, x), {0, 2, 1, 3});
  const Value key = transpose(b, heads_of(b, x), {0, 2, 3, 1});
  const Value value = transpose(b, heads_of(b, x), {0, 2, 1, 3});
  const Shape square{1, kHeads, kTokens, kTokens};
  const Value scores = divide(b, b.node("MatMul", {query.name, key.name}, square),
                              std::sqrt(static_cast<float>(kHeadWidth)));
  const Value shares = b.node("Softmax", {scores.name}, square);
  b.set("axis", std::int64_t{-1});
  const Value mixed = b.node("MatMul", {shares.name, value.name}, query.shape);
  return reshape(b, transpose(b, mixed, {0, 2, 1, 3}), {1, kTokens, kWidth});
}

Value encoder_layer(Builder& b, const Value& x) {
  const Value attended = layer_norm(b, b.add(b.linear(attention(b, x), kWidth), x));
  const Value wide = gelu(b, b.linear(attended, 4 * kWidth));
  return layer_norm(b, b.add(b.linear(wide, kWidth), attended));
}

Value embeddings(Builder& b, const Value& tokens) {
  const Value words = b.weights("embeddings.word.weight", {kVocabulary, kWidth}, 1);
  const Value positions = b.weights("embeddings.position.weight", {1, kTokens, kWidth}, 0.5);
  const Value kinds = b.weights("embeddings.token_type.weight", {1, kTokens, kWidth}, 0.2);
  const Value word = b.node("Gather", {words.name, tokens.name}, Shape{1, kTokens, kWidth});
  return layer_norm(b, b.add(b.add(word, kinds), positions));
}

}  // namespace

::onnx::ModelProto bert_tiny() {
  Builder b("bert_tiny");
  const Value tokens = b.input("input_ids", {1, kTokens}, ::onnx::TensorProto::INT64);
  Value x = embeddings(b, tokens);
  for (std::int64_t layer = 0; layer < kLayers; ++layer) x = encoder_layer(b, x);
  const Value first = b.integer("pooler.first", 0);
  Value pooled = b.node("Gather", {x.name, first.name}, Shape{1, kWidth});
  b.set("axis", std::int64_t{1});
  pooled = b.tanh(b.gemm(pooled, kWidth, 1));
  b.output("last_hidden_state", x);
  b.output("pooler_output", pooled);
  return b.finish();
}

}  // namespace attune::zoo
