// Bad models, artifacts and inputs: each ends with one sentence that says what is wrong, and
// nothing half-written is left behind.
#include <gtest/gtest.h>

#include <filesystem>

#include "tensor_files/npy.h"
#include "tests/support/bad_commands.h"
#include "tests/support/tiny_onnx.h"

namespace attune {
namespace {

class BadModels : public test::BadCommands {
 protected:
  void write_relu(const std::string& name, const std::vector<std::string>& dims) const {
    test::write_tiny_model(directory_.file(name), "Relu", {{"x:0", dims}});
  }
  // The artifact of a small model.
  std::string artifact() const {
    const test::ProcessResult result = run("compile {dir}/relu.onnx -o {dir}/relu.attune -q");
    EXPECT_EQ(result.status, 0) << result.errors;
    return directory_.read("relu.attune");
  }
  void write_tensor(const std::string& name, runtime::DType type,
                    std::vector<std::int64_t> shape) const {
    const auto tensor = runtime::Tensor::allocate(type, std::move(shape)).value();
    ASSERT_TRUE(tensor_files::write_npy(directory_.file(name), tensor).ok());
  }
  // What every command that takes inputs from files says of bad ones; `command` names the model.
  void expect_bad_inputs(const std::string& command) const {
    write_tensor("wide.npy", runtime::DType::F32, {2, 4});
    expect_all({
        {command + "--input x:0", 2, "input 'x:0' is not of the form NAME=FILE",
         "write --input a=x.npy"},
        {command + "--input y={dir}/wide.npy", 2, "relu has no input 'y'", "its inputs are x:0"},
        {command + "--input x:0={dir}/none.npy", 1,
         "cannot read '{dir}/none.npy': no such file or directory"},
        {command + "--input x:0={dir}/wide.npy", 2,
         "'{dir}/wide.npy' has shape 2x4, but input 'x:0' is 2x3",
         "give it that shape, or compile the model for yours with --shape"},
    });
  }
  BadModels() { write_relu("relu.onnx", {"2", "3"}); }
};

TEST_F(BadModels, FilesThatAreNoModels) {
  directory_.write("text.onnx", "hello\n");
  directory_.write("empty.onnx", "");
  const std::string whole = directory_.read("relu.onnx");
  directory_.write("cut.onnx", whole.substr(0, whole.size() / 2));
  const test::ProcessResult cut = run("compile {dir}/cut.onnx -o {dir}/cut.attune");
  EXPECT_EQ(cut.status, 1);
  EXPECT_EQ(cut.errors.find("attune: error: cannot read '" + directory_.file("cut.onnx") +
                            "' as an ONNX model: it is cut short: "),
            0u)
      << cut.errors;
  expect_all({
      {"run {dir}/none.onnx", 1, "there is no file '{dir}/none.onnx'", "check the path"},
      {"run {dir}/empty.onnx", 1, "'{dir}/empty.onnx' is empty"},
      {"compile {dir}/text.onnx -o {dir}/text.attune", 1,
       "cannot read '{dir}/text.onnx' as an ONNX model: the field at byte 2 is of no known kind"},
      {"run {dir}", 2, "'{dir}' is a folder, not a model",
       "only 'attune check' takes folders, of ONNX test cases"},
      {"zoo export resnet81", 1, "there is no model 'resnet81' in the zoo",
       "did you mean 'resnet18'?"},
  });
  for (const char* file : {"cut.attune", "text.attune", "resnet81.onnx"}) {
    EXPECT_FALSE(std::filesystem::exists(directory_.file(file))) << file;
  }
}

TEST_F(BadModels, UnknownOperatorsAreNamed) {
  test::write_tiny_model(directory_.file("odd.onnx"), "Frobnicate", {{"x", {"2"}}});
  expect_all({
      {"compile {dir}/odd.onnx -o {dir}/odd.attune", 1,
       "1 node of the model is not supported: Frobnicate ('node')"},
  });
  EXPECT_FALSE(std::filesystem::exists(directory_.file("odd.attune")));
}

TEST_F(BadModels, Shapes) {
  write_relu("symbol.onnx", {"batch", "3"});
  expect_all({
      {"bench {dir}/symbol.onnx", 2,
       "dimension 0 of input 'x:0' is the symbol 'batch', which has no value",
       "give the shape: --shape x:0=batch,3, with numbers throughout"},
      {"run {dir}/symbol.onnx --shape x:0=2", 2,
       "input 'x:0' has 2 dimensions, the shape given for it, [2], has 1"},
      {"run {dir}/symbol.onnx --shape x:0=2,4", 2,
       "dimension 1 of input 'x:0' is 3 in the model, not 4"},
      {"run {dir}/symbol.onnx --shape y=2,3", 2, "the model has no input 'y'",
       "its inputs are x:0"},
      {"run {dir}/symbol.onnx --shape x:0", 2, "shape 'x:0' is not of the form NAME=1,3,224,224",
       "write --shape input=1,3,224,224"},
      {"run {dir}/symbol.onnx --shape x:0=-1,3", 2,
       "shape 'x:0=-1,3' is not of the form NAME=1,3,224,224", "write --shape input=1,3,224,224"},
      {"run {dir}/symbol.onnx --shape x:0=1,3 --shape x:0=1,3", 2,
       "the shape of input 'x:0' is given twice"},
      {"run {dir}/symbol.onnx --shape x:0=999999999999,3", 2,
       "input 'x:0' of shape [999999999999,3] is too large"},
  });
}

TEST_F(BadModels, Inputs) {
  write_tensor("ints.npy", runtime::DType::I64, {2, 3});
  directory_.write("text.npz", "hello");
  directory_.write("p.ppm", "P6 1 1 255 abc");
  const std::string model = "run {dir}/relu.onnx ";
  expect_bad_inputs(model);
  expect_all({
      {model + "--input x:0=/dev/zero", 1, "cannot read '/dev/zero': it is not a regular file"},
      {model + "--input x:0={dir}/ints.npy", 2,
       "'{dir}/ints.npy' holds i64, but input 'x:0' is f32", "convert it in NumPy with .astype(…)"},
      {model + "--input {dir}/text.npz", 1,
       "'{dir}/text.npz' is not a .npz file: it has no directory", "write it with numpy.savez"},
      {model + "--image x:0={dir}/p.ppm", 2, "input 'x:0' has shape 2x3, which no image has",
       "images are [n,c,h,w] or [n,h,w,c] with 1 or 3 channels; use --input"},
      {model + "--mean 1,a", 2, "--mean is '1,a', which is not a list of numbers",
       "write --mean 0.485,0.456,0.406"},
      {model + "--resize cubic", 2, "--resize is 'cubic'", "choose linear or nearest"},
  });
}

// As `run` says it, and before anything was tuned.
TEST_F(BadModels, InputsOfOtherCommands) {
  for (const std::string verb : {"bench", "tune", "submit"}) {
    const std::string model = verb + " {dir}/relu.onnx ";
    expect_bad_inputs(model);
    if (verb == "bench") continue;
    expect_all(
        {{verb + " softmax:m=4,n=4 --input x={dir}/wide.npy", 1,
          "operators are tuned on random values, so that --input has no meaning", "leave it out"}});
  }
}

TEST_F(BadModels, Artifacts) {
  const std::string whole = artifact();
  directory_.write("cut.attune", whole.substr(0, 100));
  std::string flipped = whole;
  flipped[20] = static_cast<char>(flipped[20] ^ 0xff);
  directory_.write("flipped.attune", flipped);
  flipped = whole;
  flipped.back() = static_cast<char>(flipped.back() ^ 0xff);
  directory_.write("tail.attune", flipped);
  directory_.write("text.attune", "hello");
  const std::string hint = "copy or compile it again";
  const std::string damaged = "cannot load '{dir}/flipped.attune': the artifact is damaged: ";
  expect_all({
      {"bench {dir}/flipped.attune", 1, damaged + "the checksum of its header does not match",
       hint},
      {"compile {dir}/relu.attune -o {dir}/x.attune", 2,
       "'{dir}/relu.attune' is an artifact, which is compiled already",
       "name the model that it was compiled from"},
      {"tasks {dir}/relu.attune", 1,
       "'{dir}/relu.attune' is an artifact, which does not know its tasks",
       "name the model that it was compiled from"},
      {"check {dir}/relu.attune", 1,
       "'{dir}/relu.attune' is an artifact, which has nothing to be compared with",
       "check the model that it was compiled from"},
      {"run {dir}/relu.attune --shape x:0=2,3", 2,
       "'{dir}/relu.attune' is an artifact, whose shapes and constants are fixed",
       "give --shape, --constant and --max when the model is compiled"},
  });
  const std::string compiled = "'{dir}/relu.attune' is an artifact, compiled for '{target}'";
  const std::string when = "give --target and --exact when the model is compiled";
  expect_all({
      {"run {dir}/relu.attune --target sim", 2, compiled, when},
      {"bench {dir}/relu.attune --target cpu%-threads=1000", 2, compiled, when},
      {"bench {dir}/relu.attune --exact", 2, compiled, when},
      {"run {dir}/relu.attune --target cqu", 2, "unknown target kind 'cqu'",
       "did you mean 'cpu'? the kinds are {kinds}; write a target like 'cpu -mcpu=znver3 "
       "-threads=2'"},
  });
  // The same target in other words.
  for (const char* words : {"cpu", "cpu%-mcpu=native", "cpu%-threads={cores}"}) {
    const auto result = run(std::string("run {dir}/relu.attune --target ") + words);
    EXPECT_EQ(result.status, 0) << words << ": " << result.errors;
  }
  for (const char* file : {"none", "cut", "tail", "text"}) {
    const std::string path = directory_.file(std::string(file) + ".attune");
    const test::ProcessResult result = run("run " + path);
    EXPECT_EQ(result.status, 1) << file;
    EXPECT_EQ(result.errors.find("attune: error: cannot "), 0u) << result.errors;
    EXPECT_NE(result.errors.find("'" + path + "'"), std::string::npos) << result.errors;
    EXPECT_EQ(result.output, "") << file;
  }
}

TEST_F(BadModels, Usage) {
  expect_all({
      {"check {dir}", 1, "there are no ONNX test cases in '{dir}'",
       "a case is a folder with model.onnx and test_data_set_0"},
      {"run softmax:m=4,n=4 --image x=p.ppm", 1, "operators take no images", "use --input"},
      {"zoo sing", 2, "unknown command 'zoo sing'", "'attune zoo --help' lists the commands"},
  });
}

TEST_F(BadModels, AFullDiskLeavesNothingBehind) {
  const std::string full = "cannot write '/dev/full': no space left on the disk";
  const std::string hint = "free some space and try again; what was there before is unchanged";
  expect_all({
      {"compile {dir}/relu.onnx -q -o /dev/full", 1, full, hint},
      {"zoo export mlp -o {dir}/none/mlp.onnx", 1,
       "cannot write '{dir}/none/mlp.onnx': directory '{dir}/none' does not exist",
       "create the directory first"},
      {"compile {dir}/relu.onnx -o {dir}/none/x.attune", 1,
       "cannot write '{dir}/none/x.attune': directory '{dir}/none' does not exist",
       "create the directory first"},
  });
}

}  // namespace
}  // namespace attune
