// A server with worker processes of its own whose jobs hang, eat the memory or cannot be ended. The
// workers are this program, run for one test that is no test.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <mutex>
#include <regex>
#include <thread>

#include "base/temporary_directory_testing.h"
#include "fleet/jobs/policies/policies.h"
#include "fleet/server/local_workers.h"
#include "fleet/server/server.h"
#include "fleet/server/worker_connection.h"

namespace attune::server {
namespace {

constexpr const char* kState = "ATTUNE_STUCK_STATE";  // of the server, for its workers
constexpr const char* kGroup = "ATTUNE_STUCK_GROUP";  // of the memory that they may eat

[[noreturn]] void beat_for_ever(WorkerConnection& connection) {
  v1::FromWorker beat;
  beat.mutable_beat();
  for (;;) {
    connection.send(beat);
    ::usleep(20'000);
  }
}

[[noreturn]] void eat_memory() {
  std::ofstream(std::string(std::getenv(kGroup)) + "/cgroup.procs") << ::getpid() << std::flush;
  constexpr std::size_t kBite = 1 << 20;
  for (;;) std::memset(::operator new(kBite), 1, kBite);
}

// Does what the name of its job says, in a stage on the device; one that works only in a stage on
// the host.
void do_as_named(WorkerConnection& connection, const v1::Job& job) {
  const std::string& name = job.spec().name();
  connection.send_kinds(job, 1);
  connection.offer(job, 1, name == "works" ? 0 : 1);
  v1::ToWorker message;
  while (connection.read(message) && !message.has_start()) {
  }
  std::ofstream(std::string(std::getenv(kState)) + "/" + name) << ::getpid() << std::flush;
  if (name == "hangs") beat_for_ever(connection);
  if (name == "eats") eat_memory();
  connection.finish(job, 1, 0.01);
  connection.end(job, v1::DONE);
}

class StuckJobs : public ::testing::Test {
 protected:
  void start(ServerOptions options) {
    ::setenv(kState, state().c_str(), 1);
    options.state = state();
    options.version = "1";
    options.policy = *jobs::find_policy("fair");
    options.host_cores = {0};
    options.profile_cores = {1};
    options.worker_command = {"/proc/self/exe", "--gtest_also_run_disabled_tests",
                              "--gtest_filter=StuckJobs.DISABLED_Worker", "--gtest_output="};
    options.note = [this](const std::string& note) {
      const std::lock_guard lock(mutex_);
      notes_.push_back(note);
    };
    auto server = Server::start(std::move(options));
    ASSERT_TRUE(server.ok()) << server.error().message;
    server_ = std::move(*server);
    stub_ = v1::Scheduler::NewStub(channel_to(state()));
  }
  void submit(const std::string& name) {
    grpc::ClientContext context;
    v1::SubmitRequest request;
    request.mutable_spec()->set_model("resnet18");
    request.mutable_spec()->set_name(name);
    v1::SubmitReply reply;
    ASSERT_TRUE(stub_->Submit(&context, request, &reply).ok());
  }
  v1::Snapshot list(const std::string& job) {
    grpc::ClientContext context;
    v1::ListRequest request;
    request.set_job(job);
    v1::Snapshot snapshot;
    EXPECT_TRUE(stub_->List(&context, request, &snapshot).ok());
    return snapshot;
  }
  v1::Job wait_for(const std::string& job, const std::function<bool(const v1::Job&)>& is_so) {
    v1::Job seen;
    do {
      ::usleep(5000);
      seen = list(job).jobs(0);
    } while (!is_so(seen) && seen.state() < v1::DONE);
    return seen;
  }
  v1::Job wait_for_end(const std::string& job) {
    return wait_for(job, [](const v1::Job& seen) { return seen.state() >= v1::DONE; });
  }
  // Of the worker that has begun with a job; 0: none has.
  int pid_of(const std::string& job) const {
    int pid = 0;
    std::ifstream(state() + "/" + job) >> pid;
    return pid;
  }
  bool noted(const std::string& text) {
    const std::lock_guard lock(mutex_);
    return std::find(notes_.begin(), notes_.end(), text) != notes_.end();
  }
  std::string state() const { return folder_.path(); }

  test::TemporaryDirectory folder_;
  std::mutex mutex_;
  std::vector<std::string> notes_;
  std::unique_ptr<Server> server_;
  std::unique_ptr<v1::Scheduler::Stub> stub_;
};

TEST_F(StuckJobs, DISABLED_Worker) {
  const char *state = std::getenv(kState), *token = std::getenv(kTokenName);
  ASSERT_TRUE(state != nullptr && token != nullptr) << "only a server runs this";
  WorkerConnection connection(state, "1", token);
  v1::ToWorker message;
  while (connection.read(message)) {
    if (message.has_assign()) do_as_named(connection, message.assign().job());
  }
}

TEST_F(StuckJobs, OneThatHangsIsEndedAndFailsAndOthersGoOn) {
  start({.workers = 1,
         .lease_seconds = 60,
         .limits = {.times_predicted = 20, .floor_seconds = 0.3, .most_tries = 2}});
  submit("hangs");
  submit("works");
  const v1::Job hung = wait_for_end("hangs");
  EXPECT_EQ(hung.state(), v1::FAILED);
  EXPECT_EQ(hung.epoch(), 2);
  EXPECT_TRUE(std::regex_match(
      hung.reason(), std::regex("its stage 'profile' said nothing for [01] s and was ended; that "
                                "was the last of 2 tries without progress")))
      << hung.reason();
  EXPECT_NE(::kill(pid_of("hangs"), 0), 0) << "its process has ended";
  const v1::Job worked = wait_for_end("works");
  EXPECT_EQ(worked.state(), v1::DONE);
  EXPECT_EQ(worked.epoch(), 1);
  const v1::Snapshot after = list("works");
  for (const v1::PoolState& pool : after.pools()) EXPECT_EQ(pool.used(), 0) << pool.name();
  const std::lock_guard lock(mutex_);
  ASSERT_GE(notes_.size(), 2u);
  EXPECT_NE(notes_[0].find("job j1 (hangs): its stage 'profile' said nothing for"),
            std::string::npos);
  EXPECT_NE(notes_[0].find("try 1 of 2"), std::string::npos);
}

// By the kernel's hand, in a group that has little memory.
TEST_F(StuckJobs, OneThatEatsTheMemoryFailsAndSaysSo) {
  const std::string group = "/sys/fs/cgroup/memory/attune-stuck-" + std::to_string(::getpid());
  if (::mkdir(group.c_str(), 0700) != 0) {
    GTEST_SKIP() << "needs the right to make memory groups of version 1";
  }
  std::ofstream(group + "/memory.limit_in_bytes") << (64 << 20) << std::flush;
  ::setenv(kGroup, group.c_str(), 1);
  start({.workers = 1});
  submit("eats");
  submit("works");
  const v1::Job eaten = wait_for_end("eats");
  EXPECT_EQ(eaten.state(), v1::FAILED);
  EXPECT_EQ(eaten.epoch(), 3);
  std::smatch megabytes;
  ASSERT_TRUE(std::regex_match(
      eaten.reason(), megabytes,
      std::regex("the system killed its worker for want of memory, which had taken ([0-9]+) MB; "
                 "that was the last of 3 tries without progress")))
      << eaten.reason();
  EXPECT_GT(std::stoi(megabytes[1]), 30);
  EXPECT_LT(std::stoi(megabytes[1]), 200);
  EXPECT_EQ(wait_for_end("works").state(), v1::DONE);
  server_.reset();
  while (::rmdir(group.c_str()) != 0) ::usleep(1000);
}

// The kernel does not end what a freezer of version 1 holds, as it does not end what sleeps in a
// driver.
TEST_F(StuckJobs, AWorkerThatCannotBeEndedBlocksItsDeviceAlone) {
  const std::string group = "/sys/fs/cgroup/freezer/attune-stuck-" + std::to_string(::getpid());
  if (::mkdir(group.c_str(), 0700) != 0) {
    GTEST_SKIP() << "needs the right to make freezer groups of version 1";
  }
  start({.workers = 2, .lease_seconds = 2, .beat_seconds = 0.2});
  submit("hangs");
  while (pid_of("hangs") == 0) ::usleep(1000);
  const int pid = pid_of("hangs");
  std::ofstream(group + "/cgroup.procs") << pid << std::flush;
  std::ofstream(group + "/freezer.state") << "FROZEN" << std::flush;
  wait_for("hangs", [](const v1::Job& job) {
    return job.reason().starts_with("waits for the process of its worker ");
  });
  submit("works");
  EXPECT_EQ(wait_for_end("works").state(), v1::DONE) << "the host is given out";
  EXPECT_EQ(::kill(pid, 0), 0) << "it was killed, and is there";
  EXPECT_EQ(list("hangs").pools(1).used(), 1) << "the device is its own";
  EXPECT_EQ(list("hangs").jobs(0).epoch(), 1);
  std::ofstream(group + "/freezer.state") << "THAWED" << std::flush;
  wait_for("hangs", [](const v1::Job& job) { return job.epoch() == 2; });
  EXPECT_EQ(list("hangs").jobs(0).strikes().last(), "") << "it was not the job's fault";
  server_.reset();
  while (::rmdir(group.c_str()) != 0) ::usleep(1000);
}

}  // namespace
}  // namespace attune::server
