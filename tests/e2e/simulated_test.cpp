// The simulated device, through every command that a target goes through.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>

#include "fleet/client/client.h"
#include "fleet/wire/devices.h"
#include "runtime/execution/executor.h"
#include "tests/support/background_process.h"
#include "tests/support/own_commands.h"

namespace attune {
namespace {

using Json = nlohmann::json;

class Simulated : public test::OwnCommands {
 protected:
  // What a command with these words prints, for the simulated device and with the test's records.
  Json on_sim(std::vector<std::string> words) const {
    words.insert(words.end(), {"--target", "sim", "--records", directory_.file("records.db")});
    return json_of(std::move(words));
  }
  void expect_compiles_and_runs(const std::string& model) const {
    const std::string artifact = directory_.file("compiled.attune");
    EXPECT_GT(on_sim({"compile", model, "-o", artifact})["kernels"].get<int>(), 0) << model;
    EXPECT_EQ(json_of({"run", artifact})["outputs"].size(), 1u) << model;
    const Json bench = json_of({"bench", artifact, "--repeats", "1"});
    EXPECT_GT(bench["latency_ms"]["min"].get<double>(), 0) << model;
  }
  // What it says of the tasks; operator specs write no artifact.
  Json tuned(const std::string& model, const std::vector<std::string>& further = {}) const {
    std::vector<std::string> words{"tune", model, "--trials", "1", "--repeats", "1"};
    words.insert(words.end(), further.begin(), further.end());
    Json report = on_sim(words);
    EXPECT_FALSE(report["tasks"].empty()) << model;
    for (const Json& task : report["tasks"]) {
      EXPECT_EQ(task["failed"], 0) << model << ": " << task;
      EXPECT_LE(task["best_us"].get<double>(), task["default_us"].get<double>()) << task;
    }
    return report;
  }
};

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

TEST_F(Simulated, EveryCommandTakesOperators) {
  for (const char* spec : {"matmul:m=7,n=13,k=5", "conv2d:h=6,w=5,ic=6,oc=8,kh=3,kw=3,pad=1"}) {
    tuned(spec);
    expect_compiles_and_runs(spec);
    EXPECT_EQ(on_sim({"check", spec})["status"], "pass") << spec;
  }
}

// What is slow to interpret is shown once: precision_test checks dqn, and tunes mlp.
TEST_F(Simulated, EveryCommandTakesModels) {
  expect_compiles_and_runs("mlp");
  EXPECT_EQ(on_sim({"check", "mlp"})["status"], "pass");
  const std::string artifact = directory_.file("tuned.attune");
  const Json report = tuned("dqn", {"-o", artifact});
  EXPECT_EQ(json_of({"run", artifact})["outputs"].size(), 1u);
  const Json bench = json_of({"bench", artifact, "--repeats", "1"});
  EXPECT_NEAR(bench["latency_ms"]["min"].get<double>(), report["latency_ms"].get<double>(), 1e-6);
}

TEST_F(Simulated, JobsAreMeasuredOnTheCoresThatItIsSimulatedOn) {
  const std::string state = directory_.file("state"), records = directory_.file("jobs.db");
  test::BackgroundProcess scheduler(
      {test::attune_program(), "scheduler", "--state", state, "--workers", "1"},
      {{"XDG_DATA_HOME", directory_.file("data")}});
  ASSERT_TRUE(scheduler.wait_for_error_text("serving"));
  output_of({"submit", kProduct, "--target", "sim", "--trials", "4", "--state", state, "--records",
             records});
  client::Client client({.state = state, .patience_seconds = 3600});
  std::vector<client::JobStatus> jobs;
  const Status watched = client.watch("", 0, [&](const client::Overview& overview) {
    jobs = overview.jobs;
    return !std::all_of(jobs.begin(), jobs.end(),
                        [](const auto& job) { return client::has_ended(job.state); });
  });
  scheduler.send_signal(SIGTERM);
  (void)scheduler.finish();
  ASSERT_TRUE(watched.ok()) << watched.error().message;
  ASSERT_EQ(jobs.size(), 1u);
  EXPECT_EQ(jobs[0].state, client::JobState::Done) << jobs[0].reason;
  EXPECT_EQ(jobs[0].request.device, wire::kMeasuringCores);
  EXPECT_EQ(jobs[0].trials, 4);
  EXPECT_EQ(json_of({"bench", kProduct, "--target", "sim", "--records", records, "--repeats",
                     "1"})["schedule"],
            "record");
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
