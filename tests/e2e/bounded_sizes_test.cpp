// Inputs that only bound a size: a model is compiled for the largest, and runs with smaller ones as
// one that was compiled for just those.
#include <gtest/gtest.h>

#include <cmath>

#include "tensor_files/npy.h"
#include "tests/support/own_commands.h"
#include "tests/support/tiny_onnx.h"

namespace attune {
namespace {

using Numbers = std::vector<std::int64_t>;

class BoundedSizes : public test::OwnCommands {
 protected:
  std::string list_of(const Numbers& numbers) const {
    std::string text;
    for (const std::int64_t number : numbers) {
      text += (text.empty() ? "" : ",") + std::to_string(number);
    }
    return text;
  }
  std::string file_of(const Numbers& numbers) const {
    const std::string path = directory_.file("sizes.npy");
    const runtime::Tensor tensor =
        runtime::Tensor::allocate(runtime::DType::I64, {std::ssize(numbers)}).value();
    std::copy(numbers.begin(), numbers.end(), tensor.as<std::int64_t>().begin());
    EXPECT_TRUE(tensor_files::write_npy(path, tensor).ok());
    return path;
  }
  // No two elements are the same.
  std::string image(const Numbers& shape) const {
    const std::string path = directory_.file("x.npy");
    const runtime::Tensor tensor = runtime::Tensor::allocate(runtime::DType::F32, shape).value();
    const std::span<float> elements = tensor.as<float>();
    for (std::size_t i = 0; i < elements.size(); ++i) {
      elements[i] = static_cast<float>(i * 7 % elements.size()) / 40.0f;
    }
    EXPECT_TRUE(tensor_files::write_npy(path, tensor).ok());
    return path;
  }
  // The output y of a run.
  runtime::Tensor result_of(std::vector<std::string> words) const {
    words.insert(words.begin(), "run");
    words.insert(words.end(), {"--threads", "1", "--output", directory_.file("out")});
    const test::ProcessResult result = run(words);
    EXPECT_EQ(result.status, 0) << result.errors;
    auto tensor = tensor_files::read_npy(directory_.file("out/y.npy"));
    EXPECT_TRUE(tensor.ok());
    return tensor.ok() ? std::move(*tensor) : runtime::Tensor();
  }
  void expect_as_compiled_for(const std::string& model, const std::string& artifact,
                              const Numbers& sizes) const {
    const std::string x = "x=" + image({1, 2, 4, 5});
    const runtime::Tensor got =
        result_of({artifact, "--input", x, "--input", "n=" + file_of(sizes)});
    const runtime::Tensor wanted =
        result_of({model, "--input", x, "--constant", "n=" + list_of(sizes)});
    ASSERT_EQ(Numbers(got.shape().begin(), got.shape().end()),
              Numbers(wanted.shape().begin(), wanted.shape().end()));
    for (std::size_t at = 0; at < wanted.as<float>().size(); ++at) {
      ASSERT_NEAR(got.as<float>()[at], wanted.as<float>()[at], 1e-5) << "element " << at;
    }
  }
};

TEST_F(BoundedSizes, ResizeImages) {
  using Words = std::map<std::string, std::string>;
  const Words ways[] = {
      {},
      {{"mode", "nearest"},
       {"coordinate_transformation_mode", "asymmetric"},
       {"nearest_mode", "floor"}},
      {{"mode", "linear"}},
      {{"mode", "linear"}, {"coordinate_transformation_mode", "align_corners"}},
      {{"mode", "linear"}, {"coordinate_transformation_mode", "pytorch_half_pixel"}}};
  for (const Words& way : ways) {
    SCOPED_TRACE(way.empty() ? "as by default" : way.begin()->second + " " + way.rbegin()->second);
    const std::string model = test::write_tiny_model(
        directory_.file("resize.onnx"),
        {{.op = "Relu", .inputs = {"x"}, .output = "r"},
         {.op = "Resize", .inputs = {"r", "", "", "n"}, .output = "y", .words = way}},
        {{.name = "x", .dims = {"1", "2", "4", "5"}},
         {.name = "n", .dims = {"4"}, .integers = true}});
    const std::string artifact = directory_.file("resize.attune");
    const test::ProcessResult compiled =
        run({"compile", model, "--max", "n=1,2,12,10", "-o", artifact, "--threads", "1"});
    ASSERT_EQ(compiled.status, 0) << compiled.errors;
    expect_as_compiled_for(model, artifact, {1, 2, 12, 10});
    expect_as_compiled_for(model, artifact, {1, 2, 7, 3});
    expect_as_compiled_for(model, artifact, {1, 2, 1, 1});
    const test::ProcessResult larger =
        run({"run", artifact, "--input", "n=" + file_of({1, 2, 13, 3})});
    EXPECT_EQ(larger.status, 2);
    EXPECT_EQ(larger.errors,
              "attune: error: input 'n' holds 13, the model was compiled for 0 to 12\n"
              "hint: give less, or compile the model for more with --max\n");
  }
}

TEST_F(BoundedSizes, AreTheLargestWhereNobodySays) {
  const std::string model = test::write_tiny_model(
      directory_.file("expand.onnx"), {{.op = "Expand", .inputs = {"x", "n"}, .output = "y"}},
      {{.name = "x", .dims = {"4", "1"}}, {.name = "n", .dims = {"2"}, .integers = true}});
  const runtime::Tensor whole = result_of({model, "--max", "n=4,6"});
  EXPECT_EQ(Numbers(whole.shape().begin(), whole.shape().end()), (Numbers{4, 6}));
  for (const char* verb : {"bench", "check", "tasks"}) {
    const test::ProcessResult result = run({verb, model, "--max", "n=4,6", "--threads", "1"});
    EXPECT_EQ(result.status, 0) << verb << result.errors;
  }
  const test::ProcessResult unknown = run({"bench", model});
  EXPECT_EQ(unknown.status, 1);
  EXPECT_NE(unknown.errors.find("--max n=N"), std::string::npos) << unknown.errors;
}

}  // namespace
}  // namespace attune
