#include "app/verbs/jobs/jobs.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "app/verbs/jobs/job_options.h"
#include "base/temporary_directory_testing.h"
#include "tensor_files/npy.h"

namespace attune::verbs {
namespace {

SubmitOptions options_for(const std::string& model) { return {.model = {.model = model}}; }

TEST(JobRequest, OfAnOperatorWritesNoArtifact) {
  SubmitOptions options = options_for("matmul:m=32,n=32,k=32");
  options.model.threads = 1;
  options.trials = 8;
  options.records = "here.db";
  options.history = "none";
  const auto request = job_request(options);
  ASSERT_TRUE(request.ok()) << request.error().message;
  EXPECT_EQ(request->model, "matmul:m=32,n=32,k=32");
  EXPECT_EQ(request->output, "");
  EXPECT_EQ(request->device, "cpu");
  EXPECT_EQ(request->trials, 8);
  EXPECT_EQ(request->user, "") << "the scheduler knows who submits it";
  const auto further = parse_job_options(request->options_json);
  ASSERT_TRUE(further.ok());
  EXPECT_EQ(further->records, (std::filesystem::current_path() / "here.db").string());
  EXPECT_EQ(further->history, "none");
}

TEST(JobRequest, OfAModelHasPathsThatHoldElsewhere) {
  SubmitOptions options = options_for("squeezenet1_1");
  const auto request = job_request(options);
  ASSERT_TRUE(request.ok()) << request.error().message;
  EXPECT_EQ(request->output, (std::filesystem::current_path() / "squeezenet1_1.attune").string());
}

TEST(JobRequest, NamesTheFilesOfInputsByTheirWholePaths) {
  const test::TemporaryDirectory directory;
  const std::string file = directory.file("x=y.npy");
  ASSERT_TRUE(tensor_files::write_npy(
                  file, runtime::Tensor::allocate(runtime::DType::F32, {1, 784}).value())
                  .ok());
  SubmitOptions options = options_for("mlp");
  options.inputs = {{"input", std::filesystem::relative(file).string()}};
  const auto request = job_request(options);
  ASSERT_TRUE(request.ok()) << request.error().message;
  const auto further = parse_job_options(request->options_json);
  ASSERT_TRUE(further.ok());
  EXPECT_EQ(further->inputs, (std::vector<model::NamedFile>{{"input", file}}));
  options.inputs = {{"image", file}};
  EXPECT_EQ(job_request(options).error().message, "mlp has no input 'image'");
}

TEST(JobRequest, RefusesWhatCannotBeTuned) {
  const auto message = [](const SubmitOptions& options) {
    const auto request = job_request(options);
    return request.ok() ? "" : request.error().message;
  };
  EXPECT_EQ(message(options_for("resnet81")), "there is no model, file or operator 'resnet81'");
  EXPECT_EQ(message(options_for("x.attune")),
            "'x.attune' is an artifact, which is compiled already");
  SubmitOptions options = options_for("matmul:m=32,n=32,k=32");
  options.output = "x.attune";
  EXPECT_EQ(message(options),
            "tuning an operator writes no artifact, so that --output has no meaning");
  options = options_for("matmul:m=32,n=32,k=32");
  options.model.threads = 1000;
  EXPECT_EQ(message(options).substr(0, 27), "1000 threads are asked for,");
}

TEST(JobRequest, RefusesAnOutputThatCannotBe) {
  const test::TemporaryDirectory folder;
  const auto message = [](const std::string& output) {
    SubmitOptions options = options_for("mlp");
    options.output = output;
    const auto request = job_request(options);
    return request.ok() ? "" : request.error().message;
  };
  EXPECT_EQ(message(folder.file("x.attune")), "");
  EXPECT_EQ(message(folder.file("gone/x.attune")), "cannot write '" + folder.file("gone/x.attune") +
                                                       "': directory '" + folder.file("gone") +
                                                       "' does not exist");
  EXPECT_EQ(message(folder.path().string()),
            "cannot write '" + folder.path().string() + "': it is a directory");
  std::ofstream(folder.file("file")) << "x";
  EXPECT_EQ(message(folder.file("file/x.attune")), "cannot write '" + folder.file("file/x.attune") +
                                                       "': '" + folder.file("file") +
                                                       "' is not a directory");
  EXPECT_EQ(message("/dev/null"), "");
}

TEST(JobRequest, RefusesPathsThatAreNoText) {
  const auto message = [](const auto& change) {
    SubmitOptions options = options_for("matmul:m=32,n=32,k=32");
    options.model.threads = 1;
    change(options);
    const auto request = job_request(options);
    return request.ok() ? "" : request.error().message;
  };
  EXPECT_EQ(message([](SubmitOptions& options) { options.records = "/tmp/a\xff.db"; }),
            "--records is '/tmp/a\ufffd.db', which is no text in UTF-8");
  EXPECT_EQ(message([](SubmitOptions& options) { options.name = "\xff"; }),
            "--name is '\ufffd', which is no text in UTF-8");
  const test::TemporaryDirectory folder;
  const std::string history = folder.file("h\xff.db");
  std::ofstream(history) << "";
  EXPECT_EQ(message([&](SubmitOptions& options) { options.history = history; }),
            "--history is '" + folder.file("h\ufffd.db") + "', which is no text in UTF-8");
  EXPECT_EQ(message([&](SubmitOptions& options) {
              options.model.model = "mlp";
              options.output = folder.file("o\xff.attune");
            }),
            "--output is '" + folder.file("o\ufffd.attune") + "', which is no text in UTF-8");
  EXPECT_EQ(message([&](SubmitOptions& options) { options.history = folder.file("none.db"); }),
            "there is no records file '" + folder.file("none.db") + "'");
}

// A report is what another user's tuner said it is.
TEST(JobsJson, AReportOfNothingButBracketsIsNone) {
  client::JobStatus job{.id = "3", .state = client::JobState::Done};
  for (const char* bracket : {"[", R"({"a":)"}) {
    job.result_json.clear();
    while (job.result_json.size() < 1'000'000) job.result_json += bracket;
    EXPECT_TRUE(nlohmann::json::parse(to_json(job))["result"].is_null());
  }
  job.result_json = std::string(400'000, '[') + std::string(400'000, ']');
  EXPECT_TRUE(nlohmann::json::parse(to_json(job))["result"].is_null());
}

TEST(JobsJson, HasTheFieldsThatProgramsRead) {
  client::Overview overview{.policy = "fair", .now = 5};
  client::JobStatus job{.id = "3", .state = client::JobState::Done, .trials = 12, .best_ms = 1.5};
  job.request.name = "night \xff";
  job.result_json = R"({"latency_ms": 1.5})";
  overview.jobs = {job};
  overview.pools = {{"host", 2, 1, 0.5, 1}};
  overview.cores_kept = "cpuset cgroup";
  const auto json = nlohmann::json::parse(to_json(overview, true, JsonForm::Line));
  EXPECT_EQ(json["jobs"][0]["state"], "done");
  EXPECT_EQ(json["jobs"][0]["trials"], 12);
  EXPECT_EQ(json["jobs"][0]["best_ms"], 1.5);
  EXPECT_TRUE(json["jobs"][0]["default_ms"].is_null());
  EXPECT_EQ(json["jobs"][0]["result"]["latency_ms"], 1.5);
  EXPECT_EQ(json["pools"][0]["utilisation"], 0.5);
  EXPECT_EQ(json["pools"][0]["cores_each"], 1);
  EXPECT_EQ(json["cores"], "cpuset cgroup");
  EXPECT_FALSE(
      nlohmann::json::parse(to_json(overview, false, JsonForm::Pretty))["jobs"][0].contains(
          "result"));
}

}  // namespace
}  // namespace attune::verbs
