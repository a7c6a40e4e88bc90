// Whole models compiled for ARM and run by the ARM runtime under an emulator: they give what the
// same models give here, and the runtime refuses what the processor cannot run. `./test arm` runs
// all models, other suites a small one.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "base/temporary_directory_testing.h"
#include "tests/support/emulated.h"

namespace attune::test {
namespace {

constexpr const char* kTarget = "cpu -triple=aarch64-linux-gnu -mcpu=neoverse-n1 -threads=2";

class ArmModels : public ::testing::Test {
 protected:
  void SetUp() override {
    if (const auto why = why_not_emulated()) GTEST_SKIP() << *why;
  }
  // Compiled with default schedules; the path of the artifact.
  std::string compile(const std::string& model, const std::string& target) const {
    const std::string artifact = directory_.file(target.size() > 4 ? "arm.attune" : "own.attune");
    const ProcessResult done =
        run_process({attune_program(), "compile", model, "--target", target, "--history", "none",
                     "--records", directory_.file("none.db"), "-o", artifact});
    EXPECT_EQ(done.status, 0) << done.errors;
    return artifact;
  }
  std::vector<float> outputs() const {
    const std::string bytes = directory_.read("outputs");
    std::vector<float> values(bytes.size() / sizeof(float));
    if (!values.empty()) std::memcpy(values.data(), bytes.data(), values.size() * sizeof(float));
    return values;
  }
  void expect_same_outputs(const std::string& model) const {
    const std::string file = directory_.file("outputs");
    const ProcessResult here = run_process({own_run_outputs(), compile(model, "cpu"), file});
    ASSERT_EQ(here.status, 0) << here.errors;
    const std::vector<float> expected = outputs();
    std::filesystem::remove(file);
    const ProcessResult there = run_emulated("run_outputs", {compile(model, kTarget), file});
    ASSERT_EQ(there.status, 0) << there.errors;
    const std::vector<float> actual = outputs();
    ASSERT_EQ(actual.size(), expected.size());
    ASSERT_FALSE(expected.empty());
    float largest = 0, worst = 0;
    for (std::size_t i = 0; i < expected.size(); ++i) {
      ASSERT_TRUE(std::isfinite(actual[i])) << model << " " << i;
      largest = std::max(largest, std::abs(expected[i]));
      worst = std::max(worst, std::abs(expected[i] - actual[i]));
    }
    EXPECT_GT(largest, 0);
    EXPECT_LE(worst, 1e-4F * largest) << model;
    RecordProperty(model, std::to_string(worst / largest));
  }
  TemporaryDirectory directory_;
};

TEST_F(ArmModels, GiveWhatTheyGiveHere) {
  expect_same_outputs("mlp");
  if (std::getenv("ATTUNE_ARM_ALL") == nullptr) return;
  for (const char* model : {"resnet18", "mobilenet_v2", "bert_tiny"}) expect_same_outputs(model);
}

TEST_F(ArmModels, RunFromC) {
  const ProcessResult run = run_emulated("example_run_model", {compile("mlp", kTarget)});
  EXPECT_EQ(run.status, 0) << run.errors;
  EXPECT_NE(run.output.find("model 'mlp'"), std::string::npos) << run.output;
}

TEST_F(ArmModels, AreRefusedByProcessorsThatCannotRunThem) {
  const std::string artifact = compile("mlp", kTarget);
  const ProcessResult old = run_emulated("example_run_model", {artifact}, "cortex-a53");
  EXPECT_EQ(old.status, 1);
  EXPECT_EQ(old.errors, "error: cannot load '" + artifact +
                            "': the code needs CPU features that this machine lacks: dotprod, "
                            "fullfp16, rdm\n"
                            "hint: compile the model for this machine, or with an older -mcpu\n");
  const std::string own = compile("mlp", "cpu");
  const ProcessResult foreign = run_emulated("example_run_model", {own});
  EXPECT_EQ(foreign.status, 1);
  EXPECT_EQ(foreign.errors,
            "error: cannot load '" + own +
                "': the code is for x86_64, this machine is aarch64\n"
                "hint: compile the model for this machine, or with an older -mcpu\n");
}

}  // namespace
}  // namespace attune::test
