// A server within its retention: what is forgotten, what a restart finds, and that everything that
// is said fits into its messages.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <thread>

#include "base/temporary_directory_testing.h"
#include "fleet/jobs/policies/policies.h"
#include "fleet/server/server.h"
#include "fleet/server/state_file.h"
#include "fleet/server/worker_connection.h"
#include "fleet/wire/limits.h"
#include "fleet/wire/state_directory.h"

namespace attune::server {
namespace {

namespace fs = std::filesystem;
using test::TemporaryDirectory;

ServerOptions options(const std::string& state, const jobs::Retention& retention,
                      Surroundings around) {
  return {.state = state,
          .version = "1",
          .policy = *jobs::find_policy("fair"),
          .host_cores = {0},
          .profile_cores = {1},
          .retention = retention,
          .lease_seconds = 600,
          .around = std::move(around)};
}

class RetentionTest : public ::testing::Test {
 protected:
  void start(const jobs::Retention& retention, Surroundings around = {}) {
    server_.reset();
    around.looked = [this] { looks_ += 1; };
    auto server = Server::start(options(folder_.path(), retention, std::move(around)));
    ASSERT_TRUE(server.ok()) << server.error().message;
    server_ = std::move(*server);
    stub_ = v1::Scheduler::NewStub(channel_to(folder_.path()));
  }

  v1::SubmitReply submit(const v1::SubmitRequest& request, grpc::StatusCode expected = {}) {
    grpc::ClientContext context;
    v1::SubmitReply reply;
    EXPECT_EQ(stub_->Submit(&context, request, &reply).error_code(), expected);
    return reply;
  }
  // With a folder, and ended.
  std::string ended_job() {
    v1::SubmitRequest request;
    request.mutable_spec()->set_model("resnet18");
    const std::string id = submit(request).job().id();
    fs::create_directories(wire::job_path(folder_.path(), id));
    std::ofstream(wire::job_path(folder_.path(), id) + "/records.db") << "records";
    grpc::ClientContext context;
    v1::ControlRequest wish;
    wish.set_job(id);
    wish.set_wish(v1::CANCEL);
    v1::ControlReply reply;
    EXPECT_TRUE(stub_->Control(&context, wish, &reply).ok());
    return id;
  }
  v1::PruneReply prune(bool dry_run) {
    grpc::ClientContext context;
    v1::PruneRequest request;
    request.set_dry_run(dry_run);
    v1::PruneReply reply;
    EXPECT_TRUE(stub_->Prune(&context, request, &reply).ok());
    return reply;
  }
  v1::Snapshot list(const std::string& job = "", std::int64_t after = 0) {
    grpc::ClientContext context;
    v1::ListRequest request;
    request.set_job(job);
    request.set_after(after);
    v1::Snapshot snapshot;
    const grpc::Status status = stub_->List(&context, request, &snapshot);
    EXPECT_TRUE(status.ok()) << status.error_message();
    return snapshot;
  }
  bool has_folder(const std::string& job) const {
    return fs::exists(wire::job_path(folder_.path(), job));
  }
  // What the scheduler does in its own time.
  template <typename Condition>
  static bool comes_true(const Condition& condition) {
    for (int i = 0; i < 1000 && !condition(); ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    return condition();
  }

  // The scheduler looked at all there is, from now on.
  void wait_for_a_look() {
    const int seen = looks_;  // the first of the next two may have begun before
    ASSERT_TRUE(comes_true([&] { return looks_ >= seen + 2; }));
  }

  TemporaryDirectory folder_;
  std::atomic<int> looks_ = 0;
  std::unique_ptr<Server> server_;
  std::unique_ptr<v1::Scheduler::Stub> stub_;
};

TEST_F(RetentionTest, OldJobsAreForgottenWithTheirFolders) {
  start({.seconds = 0.5});
  const std::string first = ended_job(), newest = ended_job();
  EXPECT_TRUE(comes_true([&] { return !has_folder(first); }));
  EXPECT_EQ(list().jobs_size(), 1) << "the newest stays, so that no number is given twice";
  EXPECT_TRUE(has_folder(newest));
  server_.reset();
  const auto file = StateFile::open_to_read(wire::database_path(folder_.path()));
  ASSERT_TRUE(file.ok());
  EXPECT_EQ(file->read_jobs()->size(), 1u);
}

TEST_F(RetentionTest, AtTheStartToo) {
  start({});
  const std::string first = ended_job(), second = ended_job(), third = ended_job();
  start({.jobs = 1});
  EXPECT_TRUE(comes_true([&] { return !has_folder(first); }));
  EXPECT_TRUE(has_folder(second) && has_folder(third));
  start({.bytes = 3});
  EXPECT_TRUE(comes_true([&] { return !has_folder(second); }));
}

// Between the two steps of forgetting a job: its row is gone, its folder is not.
TEST_F(RetentionTest, AFolderThatACrashLeftIsFoundAgain) {
  start({});
  const std::string first = ended_job();
  ended_job();
  server_.reset();
  {
    auto file = StateFile::open(wire::database_path(folder_.path()));
    ASSERT_TRUE(file.ok() && file->write({.forgotten = {{1, first}}}).ok());
  }
  fs::create_directories(wire::job_path(folder_.path(), "j99"));
  start({});
  EXPECT_TRUE(comes_true([&] { return !has_folder(first); }));
  EXPECT_TRUE(has_folder("j99")) << "no job of this book, so not its to remove";
}

TEST_F(RetentionTest, PruneForgetsAtOnce) {
  start({});
  const std::string first = ended_job();
  ended_job();
  EXPECT_EQ(prune(true).jobs_size(), 1);
  EXPECT_EQ(list().jobs_size(), 2);
  ASSERT_EQ(prune(false).jobs_size(), 1);
  EXPECT_EQ(list().jobs_size(), 1);
  EXPECT_TRUE(comes_true([&] { return !has_folder(first); }));
}

// It sleeps: that nothing happens meanwhile is what it is about.
TEST_F(RetentionTest, PruneByManyIsNoReasonToLookWithoutAPause) {
  start({});
  ended_job();
  ASSERT_TRUE(comes_true([&] { return looks_ > 0; }));
  const int before = looks_;
  for (int i = 0; i < 5; ++i) {
    EXPECT_EQ(prune(false).jobs_size(), 0) << "there is none that may be forgotten";
    EXPECT_EQ(prune(true).jobs_size(), 0);
  }
  ended_job();
  EXPECT_EQ(prune(true).jobs_size(), 1);
  std::this_thread::sleep_for(std::chrono::milliseconds(2500));
  EXPECT_EQ(looks_, before) << "nothing was forgotten";
  const auto begun = std::chrono::steady_clock::now();
  for (int i = 0; i < 40; ++i) {
    EXPECT_EQ(prune(false).jobs_size(), 1);
    ended_job();
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - begun;
  EXPECT_GT(looks_, before);
  EXPECT_LE(looks_ - before, 1 + static_cast<int>(passed.count())) << "one a second";
}

// A machine that starts with a wrong clock has it set soon; until then nothing is too old.
TEST_F(RetentionTest, AClockThatIsFarAheadAtTheStartMakesNothingTooOld) {
  constexpr double kDay = 86400;
  start({});
  const std::string first = ended_job(), second = ended_job(), third = ended_job();
  server_.reset();
  std::atomic<double> uptime = 0, ahead = 40 * kDay;
  const auto wall = [&] { return 1e-3 * static_cast<double>(unix_time_ms()) + ahead + uptime; };
  // Looks come once a second where the retention is short.
  const jobs::Retention brief{.seconds = 10, .jobs = 2};
  start(brief, {.clock = UnixClock([&] { return uptime.load(); }, wall)});
  wait_for_a_look();
  EXPECT_EQ(list().jobs_size(), 3);
  start({.seconds = 10, .jobs = 1}, {.clock = UnixClock([&] { return uptime.load(); }, wall)});
  wait_for_a_look();
  EXPECT_FALSE(has_folder(first)) << "bounds by number stay";
  EXPECT_TRUE(has_folder(second));
  ahead = 0;  // it is set
  uptime = 3601;
  wait_for_a_look();
  EXPECT_TRUE(has_folder(second)) << "its times were of the wrong clock";
  ahead = 40 * kDay;  // so that much time did pass
  EXPECT_TRUE(comes_true([&] { return !has_folder(second); }));
  EXPECT_TRUE(has_folder(third));
}

TEST_F(RetentionTest, ReportsAreReadFromTheStateFile) {
  start({});
  v1::SubmitRequest request;
  request.mutable_spec()->set_model("resnet18");
  request.set_idempotency_key("key");
  request.set_known_json("{\"a\": 1}");
  EXPECT_EQ(submit(request).job().result_json(), "{\"a\": 1}");
  EXPECT_EQ(list("j1").jobs(0).result_json(), "{\"a\": 1}");
  EXPECT_EQ(submit(request).job().result_json(), "{\"a\": 1}") << "the same key";
  start({});
  EXPECT_EQ(list("j1").jobs(0).result_json(), "{\"a\": 1}");
  EXPECT_EQ(list().jobs(0).result_json(), "") << "lists have none";
  grpc::ClientContext context;
  v1::ListRequest watched;
  watched.set_job("j1");
  const auto reader = stub_->Watch(&context, watched);
  v1::Snapshot snapshot;
  ASSERT_TRUE(reader->Read(&snapshot));
  EXPECT_EQ(snapshot.jobs(0).result_json(), "{\"a\": 1}");
  context.TryCancel();
}

TEST_F(RetentionTest, ListsComeInParts) {
  start({});
  constexpr int kJobs = 30;
  for (int i = 0; i < kJobs; ++i) {
    v1::SubmitRequest request;
    request.mutable_spec()->set_model(std::string(wire::kLargestSpec - 2000, 'x'));
    request.mutable_spec()->set_options_json("{}");
    submit(request);
  }
  int jobs = 0, parts = 0;
  std::int64_t after = 0;
  do {
    const v1::Snapshot part = list("", after);
    EXPECT_LT(part.ByteSizeLong(), wire::kLargestMessage);
    for (const v1::Job& job : part.jobs()) EXPECT_EQ(job.spec().options_json(), "");
    jobs += part.jobs_size();
    after = part.next();
    ++parts;
  } while (after != 0);
  EXPECT_EQ(jobs, kJobs);
  EXPECT_GT(parts, 10);
  grpc::ClientContext context;
  const auto reader = stub_->Watch(&context, {});
  v1::Snapshot part;
  for (jobs = 0; reader->Read(&part);) {
    jobs += part.jobs_size();
    if (part.next() == 0) break;
  }
  EXPECT_EQ(jobs, kJobs);
  context.TryCancel();
  EXPECT_EQ(list("j1").jobs(0).spec().options_json(), "{}") << "of one job all is told";
}

TEST_F(RetentionTest, WhatIsTooLargeIsRefused) {
  start({});
  v1::SubmitRequest request;
  request.mutable_spec()->set_model("resnet18");
  request.mutable_spec()->set_options_json(std::string(wire::kLargestSpec, 'x'));
  submit(request, grpc::StatusCode::INVALID_ARGUMENT);
  request.mutable_spec()->set_options_json(std::string(wire::kLargestMessage, 'x'));
  submit(request, grpc::StatusCode::RESOURCE_EXHAUSTED);
}

}  // namespace
}  // namespace attune::server
