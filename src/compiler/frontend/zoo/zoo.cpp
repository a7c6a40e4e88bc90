#include "compiler/frontend/zoo/zoo.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "base/nearest.h"
#include "compiler/frontend/onnx/proto/onnx.pb.h"
#include "compiler/frontend/zoo/models.h"

namespace attune::zoo {
namespace {

struct Entry {
  const char* name;
  const char* what;
  ::onnx::ModelProto (*build)();
};

// A new model is its own file and one line here.
constexpr Entry kModels[] = {
    {"resnet18", "image classification, 224x224", resnet18},
    {"resnet50", "image classification, 224x224", resnet50},
    {"mobilenet_v2", "image classification for phones, 224x224", mobilenet_v2},
    {"vgg19", "image classification with large layers, 224x224", vgg19},
    {"densenet121", "image classification, every layer reads all before it, 224x224", densenet121},
    {"inception_v3", "image classification with parallel branches, 299x299", inception_v3},
    {"squeezenet1_1", "image classification with few weights, 224x224", squeezenet1_1},
    {"alexnet", "image classification, 224x224", alexnet},
    {"dqn", "deep Q-network playing Atari games, 4x84x84", dqn},
    {"dcgan", "generator of 64x64 images from 100 numbers", dcgan},
    {"lstm_lm", "language model of two LSTM layers, one step", lstm_lm},
    {"lstm_lm_35", "language model of two LSTM layers, 35 steps", lstm_lm_35},
    {"bert_tiny", "transformer encoder of 4 layers, 128 tokens", bert_tiny},
    {"mlp", "three dense layers, 784-1024-1024-10", mlp},
};

const Entry* find(std::string_view name) {
  const auto* found = std::find_if(std::begin(kModels), std::end(kModels),
                                   [&](const Entry& entry) { return entry.name == name; });
  return found == std::end(kModels) ? nullptr : found;
}

}  // namespace

std::vector<ModelInfo> models() {
  std::vector<ModelInfo> infos;
  for (const Entry& entry : kModels) infos.push_back({entry.name, entry.what});
  return infos;
}

std::vector<std::string> names() {
  std::vector<std::string> all;
  for (const Entry& entry : kModels) all.emplace_back(entry.name);
  return all;
}

bool has(std::string_view name) { return find(name) != nullptr; }

Result<::onnx::ModelProto> build(std::string_view name) {
  if (const Entry* entry = find(name)) return entry->build();
  const auto all = names();
  const std::string meant = nearest(name, all);
  return Error{ErrorCode::NotFound, fmt::format("there is no model '{}' in the zoo", name),
               meant.empty() ? fmt::format("models are {}", fmt::join(all, ", "))
                             : fmt::format("did you mean '{}'?", meant)};
}

Result<onnx_proto::ModelFile> open(std::string_view name) {
  ATTUNE_ASSIGN(auto model, build(name));
  return onnx_proto::ModelFile::in_memory(std::move(model));
}

Status export_model(std::string_view name, const std::string& path) {
  auto model = build(name);
  if (!model.ok()) return model.error();
  return onnx_proto::write_model(*model, path);
}

}  // namespace attune::zoo
