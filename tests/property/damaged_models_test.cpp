// Whatever is done to a model file, reading and importing it ends with a graph or with an error
// that says something: bytes flipped, cut out or doubled, and messages that are sound but say
// nonsense.
#include <gtest/gtest.h>

#include <cstdlib>

#include "base/rng.h"
#include "base/temporary_directory_testing.h"
#include "compiler/frontend/onnx/import.h"
#include "compiler/frontend/onnx/proto/onnx.pb.h"
#include "compiler/frontend/zoo/builder.h"

namespace attune::test {
namespace {

using zoo::Builder;
using zoo::Shape;
using zoo::Value;

// A model of a few nodes of many kinds.
::onnx::ModelProto small_model() {
  Builder b("small");
  Value x = b.input("input", {1, 3, 12, 12});
  x = b.relu(b.batch_norm(b.conv(x, {.channels = 8, .kernel = 3, .pad = 1})));
  const Value y = b.max_pool(x, {.kernel = 2, .stride = 2});
  const Value z = b.average_pool(x, {.kernel = 2, .stride = 2});
  x = b.conv_transpose(b.concat({y, b.add(y, z)}, 1), {.channels = 4, .kernel = 2, .bias = false});
  const Value shape = b.integers("shape", {1, 4, -1});
  x = b.node("Reshape", {x.name, shape.name}, Shape{1, 4, 49});
  x = b.node("Transpose", {x.name}, Shape{1, 49, 4});
  b.set("perm", Shape{0, 2, 1});
  const Value starts = b.integers("starts", {1}), ends = b.integers("ends", {40});
  const Value axes = b.integers("axes", {1});
  x = b.node("Slice", {x.name, starts.name, ends.name, axes.name}, Shape{1, 39, 4});
  x = b.tanh(b.linear(x, 16));
  const Value tokens = b.input("tokens", {1, 5}, ::onnx::TensorProto::INT64);
  const Value table = b.weights("table", {30, 16}, 1);
  const Value words = b.node("Gather", {table.name, tokens.name}, Shape{1, 5, 16});
  x = b.node("Softmax", {b.concat({x, words}, 1).name}, Shape{1, 44, 16});
  b.set("axis", std::int64_t{-1});
  b.output("output", x);
  return b.finish();
}

// Reads and imports; an error must have words.
void read_and_import(const std::string& file) {
  const auto model = onnx_proto::read_model(file);
  if (!model.ok()) {
    EXPECT_FALSE(model.error().message.empty());
    return;
  }
  const auto graph = onnx::import_model(*model, {});
  EXPECT_TRUE(graph.ok() || !graph.error().message.empty());
}

int mutations() {
  const char* asked = std::getenv("ATTUNE_MUTATIONS");
  return asked ? std::atoi(asked) : 1500;
}

void damage_bytes(std::string& bytes, Rng& rng) {
  for (std::uint64_t times = 1 + rng.below(3); times > 0 && !bytes.empty(); --times) {
    const std::size_t at = rng.below(bytes.size());
    switch (rng.below(5)) {
      case 0:
        bytes[at] = static_cast<char>(rng.next());
        break;
      case 1:
        bytes[at] = static_cast<char>(bytes[at] ^ (1 << rng.below(8)));
        break;
      case 2:
        bytes.erase(at, 1 + rng.below(8));
        break;
      case 3:
        bytes.insert(at, bytes.substr(rng.below(bytes.size()), 1 + rng.below(16)));
        break;
      default:
        bytes.resize(at);
        break;
    }
  }
}

std::int64_t strange_number(Rng& rng) {
  static constexpr std::int64_t numbers[] = {
      0, -1, -2, 1, 7, 1000, std::int64_t{1} << 31, std::int64_t{1} << 40, INT64_MAX, INT64_MIN};
  return numbers[rng.below(std::size(numbers))];
}

template <typename List>
auto* any_of(List* list, Rng& rng) {
  return list->size() == 0
             ? nullptr
             : list->Mutable(static_cast<int>(rng.below(static_cast<std::uint64_t>(list->size()))));
}

// Dimensions, types and data of a tensor or an input.
void confuse_values(::onnx::GraphProto& graph, Rng& rng) {
  auto* tensor = any_of(graph.mutable_initializer(), rng);
  auto* value = any_of(graph.mutable_input(), rng);
  switch (rng.below(6)) {
    case 0:
      if (tensor->dims_size() > 0) {
        tensor->set_dims(
            static_cast<int>(rng.below(static_cast<std::uint64_t>(tensor->dims_size()))),
            strange_number(rng));
      }
      break;
    case 1:
      tensor->add_dims(strange_number(rng));
      break;
    case 2:
      tensor->set_data_type(static_cast<int>(rng.below(30)));
      break;
    case 3:
      tensor->clear_raw_data();
      break;
    case 4:
      value->mutable_type()->mutable_tensor_type()->set_elem_type(static_cast<int>(rng.below(30)));
      break;
    default: {
      auto* shape = value->mutable_type()->mutable_tensor_type()->mutable_shape();
      if (auto* dim = any_of(shape->mutable_dim(), rng)) dim->set_dim_value(strange_number(rng));
    }
  }
}

// Operators, edges and attributes of a node; edges may become cycles.
void confuse_nodes(::onnx::GraphProto& graph, Rng& rng) {
  auto* node = any_of(graph.mutable_node(), rng);
  auto* other = any_of(graph.mutable_node(), rng);
  auto* attribute = any_of(node->mutable_attribute(), rng);
  switch (rng.below(9)) {
    case 0:
      node->set_op_type(other->op_type());
      break;
    case 1:
      node->mutable_input()->Swap(other->mutable_input());
      break;
    case 2:
      if (auto* operand = any_of(node->mutable_input(), rng)) *operand = other->output(0);
      break;
    case 3:
      *any_of(node->mutable_output(), rng) = other->output(0);
      break;
    case 4:
      if (node->input_size() > 0) node->mutable_input()->RemoveLast();
      break;
    case 5:
      node->add_input(graph.initializer(0).name());
      break;
    case 6:
      graph.mutable_node()->DeleteSubrange(0, 1);
      break;
    case 7:
      if (attribute) attribute->set_i(strange_number(rng));
      break;
    default:
      if (attribute) attribute->add_ints(strange_number(rng));
      if (attribute && attribute->ints_size() > 0) attribute->set_ints(0, strange_number(rng));
  }
}

TEST(DamagedModels, FlippedCutAndDoubledBytesAreReadOrRefused) {
  const TemporaryDirectory directory;
  std::string whole;
  ASSERT_TRUE(small_model().SerializeToString(&whole));
  Rng rng(1);
  for (int i = 0; i < mutations(); ++i) {
    std::string bytes = whole;
    damage_bytes(bytes, rng);
    read_and_import(directory.write("model.onnx", bytes));
  }
}

TEST(DamagedModels, NonsenseInSoundMessagesIsImportedOrRefused) {
  const TemporaryDirectory directory;
  const ::onnx::ModelProto sound = small_model();
  Rng rng(2);
  for (int i = 0; i < mutations(); ++i) {
    ::onnx::ModelProto model = sound;
    for (std::uint64_t times = 1 + rng.below(3); times > 0 && model.graph().node_size() > 1;
         --times) {
      if (rng.chance(0.5)) {
        confuse_values(*model.mutable_graph(), rng);
      } else {
        confuse_nodes(*model.mutable_graph(), rng);
      }
    }
    std::string bytes;
    ASSERT_TRUE(model.SerializeToString(&bytes));
    SCOPED_TRACE(i);
    read_and_import(directory.write("model.onnx", bytes));
  }
}

TEST(DamagedModels, TheSoundModelIsImported) {
  const auto graph = onnx::import_model(onnx_proto::ModelFile::in_memory(small_model()), {});
  ASSERT_TRUE(graph.ok()) << graph.error().message;
}

}  // namespace
}  // namespace attune::test
