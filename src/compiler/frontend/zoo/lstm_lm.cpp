// The medium word-level language model of Zaremba et al. 2014: an embedding, two LSTM layers of 650
// and a projection to the vocabulary. The states go in and out, so that steps can be chained.
#include <cmath>

#include "compiler/frontend/zoo/builder.h"
#include "compiler/frontend/zoo/models.h"

namespace attune::zoo {
namespace {

constexpr std::int64_t kVocabulary = 10000;
constexpr std::int64_t kHidden = 650;
constexpr std::int64_t kLayers = 2;

// The part of the state [layers, 1, hidden] that belongs to one layer.
Value layer_of(Builder& b, const Value& state, std::int64_t layer) {
  const std::string name = b.next_name("Slice");
  const Value starts = b.integers(name + ".starts", {layer});
  const Value ends = b.integers(name + ".ends", {layer + 1});
  const Value axes = b.integers(name + ".axes", {0});
  return b.node("Slice", {state.name, starts.name, ends.name, axes.name}, Shape{1, 1, kHidden});
}

struct LayerResult {
  Value sequence, hidden, cell;
};

LayerResult lstm_layer(Builder& b, const Value& x, const Value& hidden, const Value& cell) {
  const std::int64_t steps = x.shape[0];
  const std::string name = b.next_name("LSTM");
  const double bound = 1 / std::sqrt(static_cast<double>(kHidden));  // as PyTorch draws them
  const Value w = b.weights(name + ".W", {1, 4 * kHidden, x.shape[2]}, bound);
  const Value r = b.weights(name + ".R", {1, 4 * kHidden, kHidden}, bound);
  const Value bias = b.weights(name + ".B", {1, 8 * kHidden}, bound);
  auto results =
      b.node("LSTM", {x.name, w.name, r.name, bias.name, "", hidden.name, cell.name},
             std::vector<Shape>{{steps, 1, 1, kHidden}, {1, 1, kHidden}, {1, 1, kHidden}});
  b.set("hidden_size", kHidden);
  const Value axes = b.integers(name + ".directions", {1});
  const Value sequence = b.node("Squeeze", {results[0].name, axes.name}, Shape{steps, 1, kHidden});
  return {sequence, results[1], results[2]};
}

::onnx::ModelProto language_model(const std::string& name, std::int64_t steps) {
  Builder b(name);
  const Value tokens = b.input("tokens", {steps, 1}, ::onnx::TensorProto::INT64);
  const Value hidden = b.input("h0", {kLayers, 1, kHidden});
  const Value cell = b.input("c0", {kLayers, 1, kHidden});
  const Value table = b.weights("embedding.weight", {kVocabulary, kHidden}, 1);
  Value x = b.node("Gather", {table.name, tokens.name}, Shape{steps, 1, kHidden});
  std::vector<Value> last_hidden, last_cell;
  for (std::int64_t layer = 0; layer < kLayers; ++layer) {
    const auto result = lstm_layer(b, x, layer_of(b, hidden, layer), layer_of(b, cell, layer));
    x = result.sequence;
    last_hidden.push_back(result.hidden);
    last_cell.push_back(result.cell);
  }
  const Value logits = b.linear(x, kVocabulary, 10);
  const Value all_hidden = b.concat(last_hidden, 0);
  const Value all_cells = b.concat(last_cell, 0);
  b.output("logits", logits);
  b.output("hn", all_hidden);
  b.output("cn", all_cells);
  return b.finish();
}

}  // namespace

::onnx::ModelProto lstm_lm() { return language_model("lstm_lm", 1); }
::onnx::ModelProto lstm_lm_35() { return language_model("lstm_lm_35", 35); }

}  // namespace attune::zoo
