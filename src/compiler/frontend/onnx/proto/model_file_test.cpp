#include "compiler/frontend/onnx/proto/model_file.h"

#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <vector>

#include "base/temporary_directory_testing.h"
#include "compiler/frontend/onnx/proto/onnx.pb.h"

namespace attune::onnx_proto {
namespace {

namespace fs = std::filesystem;
using ::onnx::AttributeProto;
using ::onnx::ModelProto;
using ::onnx::TensorProto;

class ModelFileTest : public testing::Test {
 protected:
  std::string path(const std::string& name) const { return directory_.file(name); }
  std::string write(const std::string& name, const std::string& bytes) const {
    return directory_.write(name, bytes);
  }
  std::string error_of(const std::string& file) const {
    const auto model = read_model(file);
    return model.ok() ? "read" : model.error().message;
  }

  test::TemporaryDirectory directory_;
};

std::vector<float> numbers(std::size_t count, float first) {
  std::vector<float> values(count);
  std::iota(values.begin(), values.end(), first);
  return values;
}

void fill(TensorProto& tensor, const std::string& name, const std::vector<float>& values) {
  tensor.set_name(name);
  tensor.set_data_type(TensorProto::FLOAT);
  tensor.add_dims(static_cast<std::int64_t>(values.size()));
  tensor.set_raw_data(values.data(), values.size() * sizeof(float));
}

// A model with large and small tensors in every place that may hold one.
ModelProto sample_model(std::size_t large) {
  ModelProto model;
  model.set_ir_version(10);
  model.add_opset_import()->set_version(21);
  auto* graph = model.mutable_graph();
  fill(*graph->add_initializer(), "weights", numbers(large, 1));
  fill(*graph->add_initializer(), "bias", numbers(4, 5));
  auto* sparse = graph->add_sparse_initializer();
  fill(*sparse->mutable_values(), "sparse", numbers(large, 7));
  auto* node = graph->add_node();
  node->set_op_type("If");
  auto* branch = node->add_attribute();
  branch->set_name("then_branch");
  auto* constant = branch->mutable_g()->add_node();
  constant->set_op_type("Constant");
  auto* value = constant->add_attribute();
  fill(*value->mutable_t(), "constant", numbers(large, 2));
  fill(*value->add_tensors(), "listed", numbers(large, 9));
  auto* function = model.add_functions();
  fill(*function->add_node()->add_attribute()->mutable_t(), "in_function", numbers(large, 3));
  return model;
}

void expect_floats(const Result<TensorBytes>& tensor, const std::vector<float>& expected) {
  ASSERT_TRUE(tensor.ok()) << tensor.error().message;
  ASSERT_EQ(tensor->bytes.size(), expected.size() * sizeof(float));
  EXPECT_EQ(std::memcmp(tensor->bytes.data(), expected.data(), tensor->bytes.size()), 0);
}

void expect_sample(const ModelFile& file, std::size_t large) {
  const auto& graph = file.proto().graph();
  const auto& constant = graph.node(0).attribute(0).g().node(0).attribute(0);
  expect_floats(file.tensor(graph.initializer(0)), numbers(large, 1));
  expect_floats(file.tensor(graph.initializer(1)), numbers(4, 5));
  expect_floats(file.tensor(graph.sparse_initializer(0).values()), numbers(large, 7));
  expect_floats(file.tensor(constant.t()), numbers(large, 2));
  expect_floats(file.tensor(constant.tensors(0)), numbers(large, 9));
  expect_floats(file.tensor(file.proto().functions(0).node(0).attribute(0).t()), numbers(large, 3));
}

TEST_F(ModelFileTest, LargeTensorsStayInTheFile) {
  ASSERT_TRUE(write_model(sample_model(5000), path("m.onnx")).ok());
  const auto file = read_model(path("m.onnx"));
  ASSERT_TRUE(file.ok()) << file.error().message;
  expect_sample(*file, 5000);
  EXPECT_EQ(file->proto().graph().initializer(0).raw_data().size(), 0u);
  EXPECT_EQ(file->proto().graph().initializer(1).raw_data().size(), 16u);
  EXPECT_LT(file->proto().ByteSizeLong(), 1000u);
  EXPECT_EQ(file->proto().opset_import(0).version(), 21);
}

TEST_F(ModelFileTest, SmallTensorsAreReadToo) {
  ASSERT_TRUE(write_model(sample_model(100), path("m.onnx")).ok());
  const auto file = read_model(path("m.onnx"));
  ASSERT_TRUE(file.ok()) << file.error().message;
  expect_sample(*file, 100);
}

TEST_F(ModelFileTest, ModelsInMemoryHaveTheSameTensors) {
  expect_sample(ModelFile::in_memory(sample_model(5000)), 5000);
}

TEST_F(ModelFileTest, ViewsOutliveTheHandle) {
  ASSERT_TRUE(write_model(sample_model(5000), path("m.onnx")).ok());
  std::vector<TensorBytes> kept;
  {
    const auto file = read_model(path("m.onnx"));
    kept.push_back(*file->tensor(file->proto().graph().initializer(0)));
  }
  fs::remove(path("m.onnx"));
  expect_floats(kept[0], numbers(5000, 1));
}

TEST_F(ModelFileTest, EveryPrefixIsReadOrRefused) {
  for (const std::size_t large : {10, 300}) {
    std::string whole;
    ASSERT_TRUE(sample_model(large).SerializeToString(&whole));
    int read = 0;
    // Inside of large tensors, one place is like another.
    for (std::size_t length = 0; length <= whole.size(); length += large > 256 ? 97 : 1) {
      const auto file = read_model(write("m.onnx", whole.substr(0, length)));
      if (file.ok()) {
        ++read;
        EXPECT_TRUE(file->proto().has_graph());
      } else {
        EXPECT_NE(file.error().message.find("m.onnx"), std::string::npos);
      }
    }
    EXPECT_LE(read, 3);  // whole, and without the functions or what follows the graph
    EXPECT_TRUE(read_model(write("m.onnx", whole)).ok());
  }
}

TEST_F(ModelFileTest, FlippedBytesNeverCrash) {
  std::string whole;
  ASSERT_TRUE(sample_model(300).SerializeToString(&whole));
  // Every byte of the first messages, then some of what is mostly data.
  for (std::size_t at = 0; at < whole.size(); at += at < 100 ? 1 : 89) {
    for (const int flip : {0x01, 0x80, 0xff}) {
      std::string damaged = whole;
      damaged[at] = static_cast<char>(damaged[at] ^ flip);
      const auto file = read_model(write("m.onnx", damaged));
      if (!file.ok()) continue;
      for (const auto& tensor : file->proto().graph().initializer()) {
        const auto bytes = file->tensor(tensor);
        if (!bytes.ok()) continue;
        unsigned sum = 0;  // every byte of a view must be there to read
        for (const std::byte b : bytes->bytes) sum += static_cast<unsigned>(b);
        EXPECT_LE(sum, 255 * bytes->bytes.size());
      }
    }
  }
}

TEST_F(ModelFileTest, SaysWhyAFileIsNoModel) {
  EXPECT_EQ(error_of(path("none.onnx")), "there is no file '" + path("none.onnx") + "'");
  EXPECT_EQ(error_of(directory_.path().string()),
            "cannot read '" + directory_.path().string() + "': it is a directory");
  EXPECT_EQ(error_of("/dev/null"), "cannot read '/dev/null': it is not a regular file");
  const auto empty = write("m.onnx", "");
  EXPECT_EQ(error_of(empty), "'" + empty + "' is empty");
  const std::string begin = "cannot read '" + empty + "' as an ONNX model: ";
  write("m.onnx", "not a model at all");
  EXPECT_EQ(error_of(empty), begin + "the field at byte 0 is of no known kind");
  write("m.onnx", std::string(20, '\xff'));
  EXPECT_EQ(error_of(empty), begin + "the number at byte 0 does not end");
  write("m.onnx", std::string("\x08\x0a", 2));
  EXPECT_EQ(error_of(empty), begin + "it holds no graph");
  write("m.onnx", std::string("\x08\x0a\x3a\x60\x0a", 5));
  EXPECT_EQ(error_of(empty),
            begin + "it is cut short: the field at byte 2 needs 96 bytes, 1 are left");
  write("m.onnx", "version https://git-lfs.github.com/spec/v1\noid sha256:1\nsize 3\n");
  EXPECT_EQ(error_of(empty), "'" + empty + "' is a pointer of Git LFS, not the file itself");
}

TEST_F(ModelFileTest, RefusesWhatIsNestedTooDeep) {
  ModelProto model;
  auto* graph = model.mutable_graph();
  for (int depth = 0; depth < 300; ++depth) {
    graph = graph->add_node()->add_attribute()->mutable_g();
  }
  fill(*graph->add_initializer(), "w", numbers(1000, 0));
  std::string bytes;
  ASSERT_TRUE(model.SerializeToString(&bytes));
  const auto file = write("m.onnx", bytes);
  EXPECT_EQ(error_of(file),
            "cannot read '" + file + "' as an ONNX model: messages are nested more than 600 deep");
}

TEST_F(ModelFileTest, RefusesFilesBeyondTwoGibibytes) {
  const auto file = write("m.onnx", "x");
  fs::resize_file(file, std::uintmax_t{1} << 31);  // sparse: takes no space
  EXPECT_EQ(error_of(file), "'" + file + "' has 2147483648 bytes, an ONNX file at most 2147483647");
}

TEST_F(ModelFileTest, AModelThatPointsOutsideOfTheFileIsRefused) {
  ModelProto model = sample_model(4);
  auto* tensor = model.mutable_graph()->mutable_initializer(0);
  tensor->set_mapped_offset(1);
  tensor->set_mapped_length(std::uint64_t{1} << 40);
  std::string bytes;
  ASSERT_TRUE(model.SerializeToString(&bytes));
  const auto file = read_model(write("m.onnx", bytes));
  ASSERT_TRUE(file.ok());
  EXPECT_EQ(file->tensor(file->proto().graph().initializer(0)).error().message,
            "tensor 'weights' lies outside of the file");
}

class ExternalDataTest : public ModelFileTest {
 protected:
  // A model whose one tensor of 1000 floats has the given external_data entries.
  std::string write_with(const std::vector<std::pair<std::string, std::string>>& entries) const {
    ModelProto model;
    auto* tensor = model.mutable_graph()->add_initializer();
    tensor->set_name("w");
    tensor->set_data_type(TensorProto::FLOAT);
    tensor->add_dims(1000);
    tensor->set_data_location(TensorProto::EXTERNAL);
    for (const auto& [key, value] : entries) {
      auto* entry = tensor->add_external_data();
      entry->set_key(key);
      entry->set_value(value);
    }
    EXPECT_TRUE(write_model(model, path("m.onnx")).ok());
    return path("m.onnx");
  }
  std::string write_data(std::size_t skip) const {
    const auto values = numbers(1000, 1);
    fs::create_directories(directory_.path() / "data");
    return write("data/w.bin", std::string(skip, 'x') +
                                   std::string(reinterpret_cast<const char*>(values.data()), 4000));
  }
};

TEST_F(ExternalDataTest, IsReadFromTheFileBesideTheModel) {
  write_data(64);
  const auto file =
      read_model(write_with({{"location", "data/w.bin"}, {"offset", "64"}, {"length", "4000"}}));
  ASSERT_TRUE(file.ok()) << file.error().message;
  expect_floats(file->tensor(file->proto().graph().initializer(0)), numbers(1000, 1));
}

TEST_F(ExternalDataTest, WithoutLengthItGoesToTheEnd) {
  write_data(0);
  const auto file = read_model(write_with({{"location", "data/w.bin"}}));
  ASSERT_TRUE(file.ok()) << file.error().message;
  expect_floats(file->tensor(file->proto().graph().initializer(0)), numbers(1000, 1));
}

TEST_F(ExternalDataTest, SaysWhatIsWrongWithIt) {
  const std::string begin = "tensor 'w' keeps its data in a file beside the model, but ";
  EXPECT_EQ(error_of(write_with({{"location", "gone.bin"}})),
            "there is no file '" + path("gone.bin") + "', which holds the data of tensor 'w'");
  write_data(0);
  EXPECT_EQ(error_of(write_with({})), begin + "does not name the file");
  for (const std::string out : {"../w.bin", "/etc/passwd", "data/../../w.bin", "."}) {
    EXPECT_EQ(error_of(write_with({{"location", out}})),
              begin + "the path '" + out + "' leaves the model's directory");
  }
  EXPECT_EQ(error_of(write_with({{"location", "data/w.bin"}, {"offset", "-4"}})),
            begin + "its offset '-4' is not a number of bytes");
  EXPECT_EQ(error_of(write_with({{"location", "data/w.bin"}, {"offset", "4"}, {"length", "4000"}})),
            begin + "it wants 4000 bytes from byte 4 of 'data/w.bin', which has 4000");
  EXPECT_EQ(error_of(write_with({{"location", "data/w.bin"}, {"offset", "18446744073709551615"}})),
            begin +
                "it wants 0 bytes from byte 18446744073709551615 of 'data/w.bin', which has "
                "4000");
}

// A link may say another name for a file of the folder, but not lead out of it.
TEST_F(ExternalDataTest, DoesNotFollowLinksOutOfTheFolder) {
  const std::string data = write_data(0);
  fs::create_directories(path("model"));
  const auto write_inside = [&](const std::string& location) {
    fs::rename(write_with({{"location", location}}), path("model/m.onnx"));
    return path("model/m.onnx");
  };
  const std::string out =
      "': it is a link to '" + data + "', out of the folder, which holds the data of tensor 'w'";
  fs::create_symlink(data, path("model/w.bin"));
  EXPECT_EQ(error_of(write_inside("w.bin")), "cannot read '" + path("model/w.bin") + out);
  fs::create_directory_symlink("../data", path("model/folder"));
  EXPECT_EQ(error_of(write_inside("folder/w.bin")),
            "cannot read '" + path("model/folder/w.bin") + out);
  fs::copy_file(data, path("model/own.bin"));
  fs::create_symlink("own.bin", path("model/name.bin"));
  EXPECT_TRUE(read_model(write_inside("name.bin")).ok());
}

// As in the cache of the Hugging Face hub: what has names is links to what lies together elsewhere.
TEST_F(ExternalDataTest, MayLieWhereTheModelItselfLies) {
  const std::string data = write_data(0);
  fs::rename(write_with({{"location", "w.bin"}}), path("data/1"));
  fs::create_directories(path("names"));
  fs::create_symlink("../data/1", path("names/m.onnx"));
  fs::create_symlink("../data/w.bin", path("names/w.bin"));
  const auto file = read_model(path("names/m.onnx"));
  EXPECT_TRUE(file.ok()) << file.error().message;
}

TEST_F(ModelFileTest, ReadsTensorFiles) {
  TensorProto tensor;
  fill(tensor, "x", numbers(1000, 4));
  std::string bytes;
  ASSERT_TRUE(tensor.SerializeToString(&bytes));
  const auto read = read_tensor(write("x.pb", bytes));
  expect_floats(read, numbers(1000, 4));
  EXPECT_EQ(read->name, "x");
  EXPECT_EQ(read->elements(), 1000);
  for (std::size_t length = 0; length < bytes.size(); length += 7) {
    EXPECT_FALSE(read_tensor(write("x.pb", bytes.substr(0, length))).ok());
  }
}

}  // namespace
}  // namespace attune::onnx_proto
