// Files as released versions wrote them, tests/fixtures/VERSION: every later version reads them.
// They are of a small network and a few operators, for `cpu -mcpu=haswell -threads=1`; the
// scheduler's state was left by kill -9 with one job in the middle and one that waits.
#include <gtest/gtest.h>
#include <signal.h>

#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>

#include "base/temporary_directory_testing.h"
#include "fleet/client/client.h"
#include "tests/support/background_process.h"
#include "tests/support/golden.h"
#include "tests/support/process.h"

namespace attune {
namespace {

using Json = nlohmann::json;

const std::string kTarget = "cpu -triple=x86_64-pc-linux-gnu -mcpu=haswell -threads=1";

class Fixtures : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!__builtin_cpu_supports("avx2")) GTEST_SKIP() << "the fixtures need a CPU with AVX2";
    const auto from = test::golden_directory().parent_path() / "fixtures" / "0.1";
    std::filesystem::copy(from, directory_.path());
    shell("gunzip *.db.gz *.jsonl.gz *.log.gz && tar xzf scheduler.tar.gz");
  }

  // The output of a line of bash in the directory of the files; $A is the program.
  std::string shell(const std::string& line) {
    const auto result = test::run_process(
        {"bash", "-c", "set -e; cd '" + directory_.path().string() + "'; " + line},
        {{"A", test::attune_program()}, {"T", kTarget}, {"HOME", directory_.file("home")}});
    EXPECT_EQ(result.status, 0) << line << "\n" << result.output << result.errors;
    return result.output;
  }
  Json json(const std::string& line) { return Json::parse(shell(line), nullptr, false); }

  test::TemporaryDirectory directory_;
};

TEST_F(Fixtures, RecordsAreReadAndUsed) {
  EXPECT_EQ(json("$A records list --json --records records.db --limit 1000")["records"].size(),
            78u);
  // An operator, by its spec, and the layers of a model.
  const Json bench = json(
      "$A bench matmul:m=48,n=64,k=32 --target \"$T\" --records records.db --json --repeats 2");
  EXPECT_EQ(bench["schedule"], "record");
  const Json tasks = json("$A tasks small_net.onnx --target \"$T\" --records records.db --json");
  ASSERT_EQ(tasks["tasks"].size(), 5u);
  int recorded = 0;
  for (const Json& task : tasks["tasks"]) recorded += task.contains("best_us") ? 1 : 0;
  EXPECT_EQ(recorded, 5);
}

TEST_F(Fixtures, ArtifactsRunAndGiveTheSame) {
  shell("mkdir now && $A run small_net.attune --input x=x.npy --output now");
  shell("cmp now/y.npy y.npy");
  // The same model, compiled now.
  shell(
      "mkdir new && $A run small_net.onnx --target \"$T\" --history none --input x=x.npy "
      "--output new");
  EXPECT_EQ(directory_.read("new/y.npy").size(), directory_.read("y.npy").size());
}

TEST_F(Fixtures, ExportsAndLogsAreImported) {
  shell("$A records import records.jsonl --records imported.db");
  EXPECT_EQ(json("$A records list --json --records imported.db --limit 1000")["records"].size(),
            78u);
  shell("$A records import tuned.log --records hints.db --target \"$T\"");
  EXPECT_FALSE(json("$A records hints --json --records hints.db")["hints"].empty());
}

TEST_F(Fixtures, BundlesAreAddedTo) {
  const std::string said = shell(
      "cp bundle.jsonl more.jsonl && $A records bundle more.jsonl "
      "--records records.db && wc -l < more.jsonl");
  EXPECT_EQ(directory_.read("more.jsonl"), directory_.read("bundle.jsonl")) << said;
}

TEST_F(Fixtures, TheEventsOfARunKeepTheirFields) {
  shell(
      "$A tune small_net.onnx --target \"$T\" --trials 2 --history none --records new.db "
      "--log new.jsonl -o new.attune --quiet");
  const auto first_fields = [&](const std::string& file) {
    std::set<std::string> fields;
    std::istringstream lines(directory_.read(file));
    std::string line;
    std::getline(lines, line);
    const Json event = Json::parse(line, nullptr, false);
    for (const auto& [name, value] : event.items()) fields.insert(name);
    return fields;
  };
  const std::set<std::string> now = first_fields("new.jsonl");
  ASSERT_FALSE(first_fields("run.jsonl").empty());
  for (const std::string& field : first_fields("run.jsonl"))
    EXPECT_EQ(now.count(field), 1u) << field;
}

TEST_F(Fixtures, JobsOfASchedulerThatWasKilledGoOn) {
  const std::string state = directory_.file("state");
  test::BackgroundProcess scheduler(
      {test::attune_program(), "scheduler", "--state", state, "--workers", "1", "--cpuset", "off"},
      {{"HOME", directory_.file("home")}});
  client::Client client({.state = state, .patience_seconds = 60});
  std::int64_t trials = 0;
  const Status watched = client.watch("", 0, [&](const client::Overview& overview) {
    EXPECT_EQ(overview.jobs.size(), 2u);
    for (const client::JobStatus& job : overview.jobs) {
      if (job.request.name != "middle") continue;
      EXPECT_FALSE(client::has_ended(job.state)) << job.reason;
      trials = job.trials;
    }
    return trials <= 80;  // as many as it had when it was killed, and then some
  });
  EXPECT_TRUE(watched.ok()) << watched.error().message;
  EXPECT_GT(trials, 80);
  shell("$A jobs cancel middle --state state && $A jobs cancel waiting --state state");
  scheduler.send_signal(SIGTERM);
  EXPECT_EQ(scheduler.finish().status, 0);
}

}  // namespace
}  // namespace attune
