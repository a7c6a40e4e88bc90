// ONNX's own test cases of single operators, compiled for ARM and run by the ARM runtime under an
// emulator. `./test arm` runs all of them (ATTUNE_ONNX_NODE_CASES is their folder) and compares
// with what passes on this machine; other suites run one small case.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <set>

#include "app/verbs/check/check.h"
#include "base/temporary_directory_testing.h"
#include "tests/support/arm_targets.h"
#include "tests/support/emulated.h"
#include "tests/support/tiny_onnx.h"

namespace attune::test {
namespace {

constexpr const char* kTarget = "cpu -triple=aarch64-linux-gnu -mcpu=neoverse-n1 -threads=2";

struct Counts {
  std::set<std::string> passed;
  std::vector<std::string> wrong;  // or failed, with the reason
};

Counts counts_of(const std::string& cases, const std::string& target,
                 const verbs::RunElsewhere& run) {
  verbs::CheckOptions options;
  options.source.model.model = cases;
  options.source.model.target = target;
  options.source.schedule.history = "none";
  options.run_elsewhere = run;
  Counts counts;
  const Status done = verbs::check(options, [&](const verbs::CheckCase& result) -> Status {
    const std::string name = std::filesystem::path(result.name).filename().string();
    if (result.status == verbs::CheckStatus::Pass) counts.passed.insert(name);
    if (result.status == verbs::CheckStatus::Wrong || result.status == verbs::CheckStatus::Error) {
      counts.wrong.push_back(name + ": " + result.message);
    }
    return {};
  });
  EXPECT_TRUE(done.ok()) << done.error().message;
  return counts;
}

class ArmOnnx : public ::testing::Test {
 protected:
  void SetUp() override {
    if (const auto why = why_not_emulated()) GTEST_SKIP() << *why;
  }
};

TEST_F(ArmOnnx, ASmallCase) {
  const TemporaryDirectory directory;
  const std::string folder = directory.file("relu");
  std::filesystem::create_directories(folder + "/test_data_set_0");
  write_tiny_model(folder + "/model.onnx", "Relu", {{"x", {"3"}}});
  write_tensor(folder + "/test_data_set_0/input_0.pb", {3}, std::vector<float>{1, -2, 3});
  write_tensor(folder + "/test_data_set_0/output_0.pb", {3}, std::vector<float>{1, 0, 3});
  const Counts counts = counts_of(folder, kTarget, run_on_arm);
  EXPECT_EQ(counts.passed.size(), 1u) << (counts.wrong.empty() ? "" : counts.wrong.front());
}

TEST_F(ArmOnnx, NodeCasesPassAsTheyDoHere) {
  const char* cases = std::getenv("ATTUNE_ONNX_NODE_CASES");
  if (cases == nullptr) return;  // ./test arm
  const Counts here = counts_of(cases, "cpu", {});
  const Counts there = counts_of(cases, kTarget, run_on_arm);
  for (const std::string& wrong : there.wrong) std::printf("%s\n", wrong.c_str());
  std::printf("%zu cases pass here, %zu on ARM\n", here.passed.size(), there.passed.size());
  EXPECT_GT(here.passed.size(), 1000u);
  EXPECT_GE(static_cast<double>(there.passed.size()),
            0.99 * static_cast<double>(here.passed.size()));
}

}  // namespace
}  // namespace attune::test
