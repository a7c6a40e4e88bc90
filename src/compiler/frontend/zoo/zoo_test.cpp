#include "compiler/frontend/zoo/zoo.h"

#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <set>

#include "compiler/frontend/onnx/proto/onnx.pb.h"
#include "compiler/frontend/zoo/weights.h"

namespace attune::zoo {
namespace {

using Counts = std::map<std::string, int>;

Counts counts_of(const ::onnx::ModelProto& model) {
  Counts counts;
  for (const auto& node : model.graph().node()) ++counts[node.op_type()];
  return counts;
}

std::int64_t parameters_of(const ::onnx::ModelProto& model) {
  std::int64_t total = 0;
  for (const auto& tensor : model.graph().initializer()) {
    if (tensor.data_type() != ::onnx::TensorProto::FLOAT || tensor.dims_size() == 0) continue;
    total += static_cast<std::int64_t>(tensor.raw_data().size() / sizeof(float));
  }
  return total;
}

// The nodes that PyTorch's exporter writes, and the published number of parameters. A batch
// normalisation that is folded turns scale and shift into one bias; one that stays brings mean and
// variance, which do not count as parameters. Of bert's positions only those of 128 tokens are
// there, and its token types are spread over them.
struct Architecture {
  const char* name;
  Counts nodes;
  std::int64_t parameters;
};

void PrintTo(const Architecture& model, std::ostream* out) { *out << model.name; }

class ZooModel : public testing::TestWithParam<Architecture> {};

TEST_P(ZooModel, HasItsNodesAndParameters) {
  const auto model = build(GetParam().name);
  ASSERT_TRUE(model.ok());
  EXPECT_EQ(counts_of(*model), GetParam().nodes);
  EXPECT_EQ(parameters_of(*model), GetParam().parameters);
}

TEST_P(ZooModel, EveryValueIsMadeOnceAndBeforeItIsRead) {
  const auto model = build(GetParam().name);
  ASSERT_TRUE(model.ok());
  const auto& graph = model->graph();
  std::set<std::string> known{""};
  for (const auto& input : graph.input()) EXPECT_TRUE(known.insert(input.name()).second);
  for (const auto& tensor : graph.initializer()) EXPECT_TRUE(known.insert(tensor.name()).second);
  std::set<std::string> read;
  for (const auto& node : graph.node()) {
    for (const auto& name : node.input()) {
      EXPECT_TRUE(known.contains(name)) << name;
      read.insert(name);
    }
    for (const auto& name : node.output()) EXPECT_TRUE(known.insert(name).second) << name;
  }
  for (const auto& output : graph.output()) {
    EXPECT_TRUE(known.contains(output.name()));
    read.insert(output.name());
  }
  for (const auto& tensor : graph.initializer()) EXPECT_TRUE(read.contains(tensor.name()));
}

const Architecture kArchitectures[] = {
    {"resnet18",
     {{"Conv", 20},
      {"Relu", 17},
      {"MaxPool", 1},
      {"Add", 8},
      {"GlobalAveragePool", 1},
      {"Flatten", 1},
      {"Gemm", 1}},
     11689512 - 4800},
    {"resnet50",
     {{"Conv", 53},
      {"Relu", 49},
      {"MaxPool", 1},
      {"Add", 16},
      {"GlobalAveragePool", 1},
      {"Flatten", 1},
      {"Gemm", 1}},
     25557032 - 26560},
    {"mobilenet_v2",
     {{"Conv", 52},
      {"Clip", 35},
      {"Add", 10},
      {"GlobalAveragePool", 1},
      {"Flatten", 1},
      {"Gemm", 1}},
     3504872 - 17056},
    {"vgg19",
     {{"Conv", 16}, {"Relu", 18}, {"MaxPool", 5}, {"AveragePool", 1}, {"Flatten", 1}, {"Gemm", 3}},
     143667240},
    {"densenet121",
     {{"Conv", 120},
      {"BatchNormalization", 62},
      {"Relu", 121},
      {"Concat", 62},
      {"MaxPool", 1},
      {"AveragePool", 3},
      {"GlobalAveragePool", 1},
      {"Flatten", 1},
      {"Gemm", 1}},
     7978856 - 7488 + 2 * 34336},
    {"inception_v3",
     {{"Conv", 94},
      {"Relu", 94},
      {"MaxPool", 4},
      {"AveragePool", 9},
      {"Concat", 15},
      {"GlobalAveragePool", 1},
      {"Flatten", 1},
      {"Gemm", 1}},
     23834568 - 17216},
    {"squeezenet1_1",
     {{"Conv", 26},
      {"Relu", 26},
      {"MaxPool", 3},
      {"Concat", 8},
      {"GlobalAveragePool", 1},
      {"Flatten", 1}},
     1235496},
    {"alexnet",
     {{"Conv", 5}, {"Relu", 7}, {"MaxPool", 3}, {"AveragePool", 1}, {"Flatten", 1}, {"Gemm", 3}},
     61100840},
    {"dqn", {{"Conv", 3}, {"Relu", 4}, {"Flatten", 1}, {"Gemm", 2}}, 1693362},
    {"dcgan",
     {{"ConvTranspose", 5}, {"BatchNormalization", 4}, {"Relu", 4}, {"Tanh", 1}},
     3574784 + 4 * 960},
    {"lstm_lm",
     {{"Gather", 1},
      {"Slice", 4},
      {"LSTM", 2},
      {"Squeeze", 2},
      {"MatMul", 1},
      {"Add", 1},
      {"Concat", 2}},
     19780400},
    {"lstm_lm_35",
     {{"Gather", 1},
      {"Slice", 4},
      {"LSTM", 2},
      {"Squeeze", 2},
      {"MatMul", 1},
      {"Add", 1},
      {"Concat", 2}},
     19780400},
    {"bert_tiny",
     {{"Gather", 2},
      {"MatMul", 32},
      {"Add", 38},
      {"LayerNormalization", 9},
      {"Reshape", 16},
      {"Transpose", 16},
      {"Div", 8},
      {"Softmax", 4},
      {"Erf", 4},
      {"Mul", 8},
      {"Gemm", 1},
      {"Tanh", 1}},
     11170560 - 384 * 256 + 126 * 256},
    {"mlp", {{"Gemm", 3}, {"Relu", 2}}, 1863690},
};

INSTANTIATE_TEST_SUITE_P(Zoo, ZooModel, testing::ValuesIn(kArchitectures),
                         [](const auto& model) { return std::string(model.param.name); });

TEST(Zoo, EveryModelIsTested) {
  std::vector<std::string> tested;
  for (const auto& model : kArchitectures) tested.emplace_back(model.name);
  EXPECT_EQ(names(), tested);
}

TEST(Zoo, AnUnknownNameSuggestsTheNearest) {
  const auto model = build("resnet81");
  ASSERT_FALSE(model.ok());
  EXPECT_EQ(model.error().message, "there is no model 'resnet81' in the zoo");
  EXPECT_EQ(model.error().hint, "did you mean 'resnet18'?");
  EXPECT_EQ(build("?").error().hint.substr(0, 20), "models are resnet18,");
  EXPECT_TRUE(has("mlp"));
  EXPECT_FALSE(has("mlp2"));
}

TEST(Zoo, TheSameBytesEveryTime) {
  const auto first = build("dqn");
  EXPECT_EQ(first->SerializeAsString(), build("dqn")->SerializeAsString());
  // Weights of different layers and models differ.
  const auto& graph = first->graph();
  EXPECT_NE(graph.initializer(0).raw_data().substr(0, 64),
            graph.initializer(2).raw_data().substr(0, 64));
}

TEST(Weights, AreTheSameOnEveryMachine) {
  const std::string bytes = uniform_floats(1, 5, -1, 2);
  std::vector<float> values(5);
  ASSERT_EQ(bytes.size(), 20u);
  std::memcpy(values.data(), bytes.data(), bytes.size());
  EXPECT_EQ(values, (std::vector<float>{0x1.204b8p-4f, 0x1.10a2dp-3f, -0x1.a7114p-3f,
                                        0x1.f75c68p-2f, 0x1.ecc954p-1f}));
}

TEST(Weights, FillTheirRangeEvenly) {
  const std::string bytes = uniform_floats(7, 100001, -3, 6);
  std::vector<float> values(100001);
  std::memcpy(values.data(), bytes.data(), bytes.size());
  double sum = 0, squares = 0;
  for (const float v : values) {
    ASSERT_GE(v, -3);
    ASSERT_LE(v, 3);
    sum += static_cast<double>(v);
    squares += static_cast<double>(v) * static_cast<double>(v);
  }
  EXPECT_NEAR(sum / 100001, 0, 0.03);
  EXPECT_NEAR(squares / 100001, 3, 0.03);  // the variance of a uniform distribution 6 wide
}

}  // namespace
}  // namespace attune::zoo
