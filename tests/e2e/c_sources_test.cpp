// Models as C sources: what a folder holds, that it compiles without a warning and gives what the
// artifact gives, and what is said of wrong requests. All models and compilers: ./test c.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "tensor_files/npy.h"
#include "tests/support/own_commands.h"

namespace attune {
namespace {

namespace fs = std::filesystem;

class CSources : public test::OwnCommands {
 protected:
  void expect_ok(const test::ProcessResult& result) const {
    ASSERT_EQ(result.status, 0) << result.errors << result.output;
  }
  void expect_refused(const std::vector<std::string>& words, int status,
                      const std::string& errors) const {
    const test::ProcessResult result = run(words);
    EXPECT_EQ(result.status, status);
    EXPECT_EQ(result.errors, "attune: error: " + errors + "\n");
  }
  // Compiles the folder and returns the program's path.
  std::string build(const std::string& folder, const std::string& name,
                    const std::string& flags) const {
    const std::string program = directory_.file(name + "_program");
    const test::ProcessResult built = test::run_process(
        {"sh", "-c",
         fmt::format("cc -std=c11 -Wall -Wextra -Wconversion -pedantic -Werror {} {}/*.c -lm -o {}",
                     flags, folder, program)});
    EXPECT_EQ(built.status, 0) << built.errors.substr(0, 4000);
    return program;
  }
  // Runs model and C on the same numbers; outputs differ by at most 1e-5 of the largest.
  void expect_same(const std::string& model, const std::string& input, const std::string& output,
                   std::vector<std::int64_t> shape, const std::string& form,
                   const std::string& flags) const {
    const std::string folder = directory_.file(model + "_c");
    expect_ok(run({"compile", model, "--format", "c", "--weights", form, "-o", folder}));
    runtime::Tensor x = runtime::Tensor::allocate(runtime::DType::F32, std::move(shape)).value();
    const auto values = x.as<float>();
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i % 17) / 17;
    ASSERT_TRUE(tensor_files::write_npy(directory_.file("x.npy"), x).ok());
    directory_.write("x.bytes", {reinterpret_cast<const char*>(values.data()), values.size() * 4});
    expect_ok(run({"run", model, "--input", input + "=" + directory_.file("x.npy"), "--output",
                   directory_.file("out")}));
    const std::string program = build(folder, model, flags);
    expect_ok(
        test::run_process({"sh", "-c",
                           fmt::format("cd {} && {} {} {}", folder, program,
                                       directory_.file("x.bytes"), directory_.file("y.bytes"))}));
    const auto expected =
        tensor_files::parse_npy(directory_.read("out/" + output + ".npy"), output).value();
    const std::string bytes = directory_.read("y.bytes");
    const auto want = expected.as<float>();
    ASSERT_EQ(bytes.size(), want.size() * 4);
    float largest = 0, difference = 0;
    for (std::size_t i = 0; i < want.size(); ++i) {
      float have = 0;
      std::memcpy(&have, bytes.data() + 4 * i, 4);
      largest = std::max(largest, std::abs(want[i]));
      difference = std::max(difference, std::abs(want[i] - have));
    }
    EXPECT_LE(difference, 1e-5f * largest);
  }
};

TEST_F(CSources, GiveWhatTheModelGives) {
  expect_same("mlp", "input", "output", {1, 784}, "file", "-O2 -DATTUNE_PORTABLE");
}

// C has no vectors under masks, which the loops of an artifact have for this target.
TEST_F(CSources, HoldTheLoopsThatWereBuilt) {
  const auto loops_of = [&](const std::vector<std::string>& output) {
    std::vector<std::string> words{"compile",   "matmul:m=4,n=15,k=16",
                                   "--target",  "cpu -mcpu=znver4 -threads=1",
                                   "--no-look", "--history",
                                   "none",      "--emit",
                                   "loops"};
    words.insert(words.end(), output.begin(), output.end());
    return output_of(words);
  };
  const std::string masked = loops_of({"-o", directory_.file("m.attune")});
  EXPECT_NE(masked.find("anchor[ramp(0, 1, 15)]"), std::string::npos) << masked;
  const std::string plain = loops_of({"--format", "c", "-o", directory_.file("c")});
  EXPECT_NE(plain.find("anchor[ramp(0, 1, 8)]"), std::string::npos) << plain;
  EXPECT_EQ(plain.find(", 15)]"), std::string::npos) << plain;
  const std::string source = directory_.read("c/matmul_m_4_n_15_k_16_kernels_0.c");
  EXPECT_NE(source.find("VDECLARE(f32, 8, anchor_0)"), std::string::npos) << source;
}

TEST_F(CSources, AreCleanUnderSanitizers) {
  expect_same("dqn", "input", "output", {1, 4, 84, 84}, "array",
              "-O1 -fsanitize=address,undefined -fno-sanitize-recover=all");
}

TEST_F(CSources, RefuseWhatTheyCannotBe) {
  const std::string folder = directory_.file("taken");
  fs::create_directories(folder);
  directory_.write("taken/note", "mine");
  directory_.write("file", "mine");
  expect_refused({"compile", "mlp", "--format", "d", "-o", "x"}, 2,
                 "there is no format 'd'\nhint: the formats are artifact and c");
  expect_refused({"compile", "mlp", "--format", "c"}, 2,
                 "--format c needs a directory for the sources\nhint: add -o DIR");
  expect_refused({"compile", "mlp", "--format", "c", "-o", folder}, 2,
                 fmt::format("cannot write '{}': the directory holds files already\n"
                             "hint: name a new directory, or remove this one first",
                             folder));
  expect_refused({"compile", "mlp", "--format", "c", "-o", directory_.file("file")}, 2,
                 fmt::format("cannot write '{}': it is no directory\n"
                             "hint: name a new directory for the sources",
                             directory_.file("file")));
  expect_refused({"compile", "mlp", "--format", "c", "-o", directory_.file("no/where")}, 1,
                 fmt::format("cannot write '{}': directory '{}' does not exist\n"
                             "hint: create the directory first",
                             directory_.file("no/where"), directory_.file("no")));
  expect_refused({"compile", "mlp", "--format", "c", "--weights", "disk", "-o", "x"}, 2,
                 "--weights is 'disk', must be array or file\n"
                 "hint: arrays become part of the program, a file is read by it");
  expect_refused({"compile", "mlp", "--weights", "file", "-o", "x"}, 2,
                 "--weights is for C sources, artifacts hold their weights\n"
                 "hint: add --format c, or leave --weights out");
  EXPECT_EQ(directory_.read("taken/note"), "mine");
  EXPECT_EQ(std::distance(fs::directory_iterator(directory_.path()), fs::directory_iterator()), 2);
}

TEST_F(CSources, TakeAFolderThatIsNamedWithASlash) {
  const std::string folder = directory_.file("new");
  expect_ok(run({"compile", "mlp", "--format", "c", "-o", folder + "/"}));
  EXPECT_TRUE(fs::is_regular_file(folder + "/mlp.h"));
  expect_refused({"compile", "mlp", "--format", "c", "-o", folder + "//"}, 2,
                 fmt::format("cannot write '{}': the directory holds files already\n"
                             "hint: name a new directory, or remove this one first",
                             folder));
}

TEST_F(CSources, SayWhenWeightsAreTooLargeForArrays) {
  const std::string folder = directory_.file("lstm");
  const test::ProcessResult result = run({"compile", "lstm_lm", "--format", "c", "-o", folder});
  EXPECT_EQ(result.status, 1);
  EXPECT_NE(result.errors.find("MB, arrays in C hold at most 33.6 MB\nhint: add --weights file"),
            std::string::npos)
      << result.errors;
  EXPECT_FALSE(fs::exists(folder));
}

}  // namespace
}  // namespace attune
