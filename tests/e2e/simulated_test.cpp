// The simulated device, through every command that a target goes through.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include "runtime/execution/executor.h"
#include "tests/support/own_commands.h"

namespace attune {
namespace {

using Json = nlohmann::json;

class Simulated : public test::OwnCommands {};

constexpr const char* kProduct = "matmul:m=24,n=20,k=12";

// Times are counted: the same seed leads to the same trials and the same times, and what was tuned
// is never slower than what was not.
TEST_F(Simulated, TuningIsReproducibleBySeed) {
  std::vector<Json> runs;
  for (const char* records : {"a.db", "b.db"}) {
    runs.push_back(json_of({"tune", kProduct, "--target", "sim", "--trials", "12", "--seed", "5",
                            "--records", directory_.file(records)}));
  }
  const Json& task = runs[0]["tasks"][0];
  EXPECT_EQ(task["trials"], 12);
  EXPECT_EQ(task["failed"], 0);
  EXPECT_LE(task["best_us"].get<double>(), task["default_us"].get<double>());
  for (const char* field : {"best_us", "default_us", "trials"}) {
    EXPECT_EQ(task[field], runs[1]["tasks"][0][field]) << field;
  }
  const Json bench = json_of({"bench", kProduct, "--target", "sim", "--records",
                              directory_.file("a.db"), "--repeats", "3"});
  EXPECT_EQ(bench["latency_ms"]["min"], bench["latency_ms"]["p99"]);
  EXPECT_NEAR(bench["latency_ms"]["min"].get<double>() * 1e3, task["best_us"].get<double>(), 1e-6);
  EXPECT_EQ(bench["schedule"], "record");
}

TEST_F(Simulated, OperatorsAndModelsAgreeWithTheInterpreter) {
  for (const char* model : {"matmul:m=7,n=13,k=5", "conv2d:h=6,w=5,ic=6,oc=8,kh=3,kw=3,pad=1",
                            "softmax:m=3,n=11", "mlp"}) {
    EXPECT_EQ(json_of({"check", model, "--target", "sim"})["status"], "pass") << model;
  }
}

TEST_F(Simulated, ItsArtifactsRunInTheToolsAlone) {
  const std::string artifact = directory_.file("mlp.attune");
  json_of({"compile", "mlp", "--target", "sim -multiprocessors=2", "-o", artifact});
  const Json ran = json_of({"run", artifact});
  EXPECT_EQ(ran["outputs"].size(), 1u);
  // As programs load it that link the runtime and nothing else.
  const auto loaded = runtime::Model::load(artifact);
  ASSERT_FALSE(loaded.ok());
  EXPECT_EQ(loaded.error().message,
            "cannot load '" + artifact + "': it is made for the device 'sim', which is not here");
  std::vector<std::string_view> carried;
  for (const runtime::DeviceKind* kind : runtime::devices()) carried.push_back(kind->name);
  EXPECT_EQ(loaded.error().hint,
            fmt::format("compile the model for one of: {}", fmt::join(carried, ", ")));
}

TEST_F(Simulated, SaysWhatATargetMayBe) {
  const test::ProcessResult result = run({"bench", kProduct, "--target", "sim -warp=0"});
  EXPECT_EQ(result.status, 2) << result.output;
  EXPECT_NE(result.errors.find("-warp of a simulated device is '0'"), std::string::npos)
      << result.errors;
}

}  // namespace
}  // namespace attune
