#include "fleet/server/server.h"
#include "fleet/server/server_testing.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <thread>

#include "base/temporary_directory_testing.h"
#include "fleet/server/state_file.h"
#include "fleet/server/state_lock.h"
#include "fleet/wire/state_directory.h"
#include "fleet/wire/status.h"

namespace attune::server {
namespace {

using test::TemporaryDirectory;

v1::SubmitReply submit(v1::Scheduler::Stub& stub, const std::string& name,
                       const std::string& key = "") {
  grpc::ClientContext context;
  v1::SubmitRequest request;
  request.mutable_spec()->set_model("resnet18");
  request.mutable_spec()->set_name(name);
  request.set_idempotency_key(key);
  v1::SubmitReply reply;
  const grpc::Status status = stub.Submit(&context, request, &reply);
  EXPECT_TRUE(status.ok()) << status.error_message();
  return reply;
}

v1::Snapshot list(v1::Scheduler::Stub& stub, const std::string& job = "") {
  grpc::ClientContext context;
  v1::ListRequest request;
  request.set_job(job);
  request.set_with_bars(true);
  v1::Snapshot snapshot;
  const grpc::Status status = stub.List(&context, request, &snapshot);
  EXPECT_TRUE(status.ok()) << status.error_message();
  return snapshot;
}

// The next message; what is expected is looked at by the caller.
v1::ToWorker next(WorkerConnection& worker) {
  v1::ToWorker message;
  EXPECT_TRUE(worker.read(message));
  return message;
}

TEST(Server, RunsAJobOnAWorker) {
  const TemporaryDirectory folder;
  auto server = Server::start(sample_options(folder.path()));
  ASSERT_TRUE(server.ok()) << server.error().message;
  const auto stub = sample_client(folder.path());
  EXPECT_EQ(submit(*stub, "a").job().id(), "j1");
  WorkerConnection worker(folder.path(), "1", (*server)->worker_token());
  EXPECT_EQ(next(worker).welcome().lease_seconds(), 600);
  const v1::Job job = next(worker).assign().job();
  EXPECT_EQ(job.epoch(), 1);
  worker.send_kinds(job, 1);
  worker.offer(job, 1, 1);
  const v1::Start start = next(worker).start();
  EXPECT_EQ(start.stage(), 1);
  EXPECT_EQ(start.cores(0), 1);
  EXPECT_EQ(list(*stub, "a").jobs(0).state(), v1::RUNNING);
  worker.finish(job, 1, 0.5);
  EXPECT_EQ(next(worker).known().stage(), 1);
  worker.end(job, v1::DONE);
  EXPECT_EQ(next(worker).known().stage(), -1);
  const v1::Snapshot snapshot = list(*stub, "a");
  EXPECT_EQ(snapshot.jobs(0).state(), v1::DONE);
  ASSERT_EQ(snapshot.bars_size(), 1);
  EXPECT_EQ(snapshot.bars(0).kind(), "profile");
}

TEST(Server, WhatItAcknowledgedIsThereAfterARestart) {
  const TemporaryDirectory folder;
  v1::Job job;
  {
    auto server = Server::start(sample_options(folder.path()));
    ASSERT_TRUE(server.ok());
    const auto stub = sample_client(folder.path());
    submit(*stub, "a", "key");
    submit(*stub, "b");
    WorkerConnection worker(folder.path(), "1", (*server)->worker_token());
    next(worker);
    job = next(worker).assign().job();
    worker.send_kinds(job, 3);
    worker.offer(job, 1, 0);
    next(worker);
    worker.finish(job, 1, 0.5);
    EXPECT_EQ(next(worker).known().stage(), 1);
    worker.offer(job, 2, 1);
    EXPECT_EQ(next(worker).start().stage(), 2);
  }
  auto server = Server::start(sample_options(folder.path()));
  ASSERT_TRUE(server.ok());
  const auto stub = sample_client(folder.path());
  EXPECT_TRUE(submit(*stub, "a", "key").already_known());
  const v1::Snapshot snapshot = list(*stub);
  ASSERT_EQ(snapshot.jobs_size(), 2);
  EXPECT_EQ(snapshot.jobs(0).stages_done(0), 1);
  EXPECT_EQ(snapshot.bars_size(), 2);  // of what ended, and of what is still being measured
  EXPECT_EQ(snapshot.pools(1).used(), 1);
  // Another worker gets the other job; the one that has it brings what it measured meanwhile.
  WorkerConnection other(folder.path(), "1", (*server)->worker_token());
  next(other);
  EXPECT_EQ(next(other).assign().job().id(), "j2");
  WorkerConnection worker(folder.path(), "1", "", {job});
  next(worker);
  worker.finish(job, 1, 0.5);
  EXPECT_EQ(next(worker).known().stage(), 1);
  worker.finish(job, 2, 0.5);
  EXPECT_EQ(next(worker).known().stage(), 2);
  auto file = StateFile::open_to_read(wire::database_path(folder.path()));
  ASSERT_TRUE(file.ok());
  EXPECT_EQ(file->read_stages()->size(), 2u);
  EXPECT_EQ(file->read_pools()->at(1).name, "cpu");
}

TEST(Server, OneJobMeasuresOnSeveralDevicesOfAKind) {
  const TemporaryDirectory folder;
  ServerOptions with = sample_options(folder.path());
  with.profile_cores = {1, 2, 3, 4};
  with.cpu_devices = 2;
  auto server = Server::start(std::move(with));
  ASSERT_TRUE(server.ok());
  const auto stub = sample_client(folder.path());
  submit(*stub, "a");
  WorkerConnection worker(folder.path(), "1", (*server)->worker_token());
  next(worker);
  const v1::Job job = next(worker).assign().job();
  worker.send_kinds(job, 4);
  for (const int stage : {1, 2, 3}) worker.offer(job, stage, 1);
  const v1::Start first = next(worker).start(), second = next(worker).start();
  EXPECT_EQ(first.device(), "cpu:0");
  EXPECT_EQ(std::vector<int>(first.cores().begin(), first.cores().end()), (std::vector<int>{1, 2}));
  EXPECT_EQ(second.device(), "cpu:1");
  EXPECT_EQ(std::vector<int>(second.cores().begin(), second.cores().end()),
            (std::vector<int>{3, 4}));
  worker.finish(job, second.stage(), 0.5);
  next(worker);
  EXPECT_EQ(next(worker).start().device(), "cpu:1");
}

TEST(Server, WorkersOfAnotherVersionAreSentAway) {
  const TemporaryDirectory folder;
  auto server = Server::start(sample_options(folder.path()));
  ASSERT_TRUE(server.ok());
  WorkerConnection worker(folder.path(), "0", (*server)->worker_token());
  EXPECT_EQ(next(worker).refused().why(), "the worker is of version 0, the scheduler of 1");
  v1::ToWorker message;
  EXPECT_FALSE(worker.read(message));
}

TEST(Server, AnotherTunerBringsAJobOfItsOwn) {
  const TemporaryDirectory folder;
  auto server = Server::start(sample_options(folder.path()));
  ASSERT_TRUE(server.ok());
  const auto stub = sample_client(folder.path());
  WorkerConnection tuner(folder.path(), "1", (*server)->worker_token());
  next(tuner);
  v1::FromWorker message;
  v1::Register& registration = *message.mutable_register_();
  registration.mutable_spec()->set_name("script");
  v1::StageKind& kind = *registration.add_kinds();
  kind.set_name("measure");
  kind.set_pool("cpu");
  kind.set_left(-1);
  tuner.send(message);
  const v1::Known known = next(tuner).known();
  EXPECT_EQ(known.stage(), -2);
  v1::Job job;
  job.set_id(known.job());
  job.set_epoch(known.epoch());
  tuner.offer(job, 1, 0);
  EXPECT_EQ(next(tuner).start().device(), "cpu:0");
  EXPECT_EQ(list(*stub, "script").jobs(0).state(), v1::RUNNING);
  tuner.finish(job, 1, 0.5);
  next(tuner);
  tuner.end(job, v1::DONE);
  EXPECT_EQ(next(tuner).known().stage(), -1);
  EXPECT_EQ(list(*stub, "script").jobs(0).state(), v1::DONE);
}

TEST(Server, ThoseWhoWatchSeeWhatChanges) {
  const TemporaryDirectory folder;
  auto server = Server::start(sample_options(folder.path()));
  ASSERT_TRUE(server.ok());
  const auto stub = sample_client(folder.path());
  grpc::ClientContext context;
  const auto watch = stub->Watch(&context, {});
  v1::Snapshot snapshot;
  ASSERT_TRUE(watch->Read(&snapshot));
  EXPECT_EQ(snapshot.jobs_size(), 0);
  submit(*stub, "a");
  ASSERT_TRUE(watch->Read(&snapshot));
  EXPECT_EQ(snapshot.jobs(0).spec().name(), "a");
  context.TryCancel();
  EXPECT_FALSE(watch->Read(&snapshot));
  grpc::ClientContext wrong;
  v1::ListRequest unknown;
  unknown.set_job("x");
  const auto nothing = stub->Watch(&wrong, unknown);
  EXPECT_FALSE(nothing->Read(&snapshot));
  EXPECT_EQ(wire::from_status(nothing->Finish()).message, "there is no job 'x'");
}

TEST(Server, OneServesAFolderAtATime) {
  const TemporaryDirectory folder;
  const auto first = StateLock::take(folder.path());
  ASSERT_TRUE(first.ok());
  const auto second = Server::start(sample_options(folder.path()));
  ASSERT_FALSE(second.ok());
  EXPECT_EQ(second.error().message, "a scheduler already serves '" + folder.path().string() +
                                        "' (process " + std::to_string(::getpid()) + ")");
}

TEST(Server, ADamagedStateFileIsRefusedAndLeftAlone) {
  const TemporaryDirectory folder;
  const std::string path = wire::database_path(folder.path());
  const std::string bytes = "this is no database, and what it says must not be lost\n";
  std::ofstream(path) << bytes;
  const auto server = Server::start(sample_options(folder.path()));
  ASSERT_FALSE(server.ok());
  EXPECT_TRUE(server.error().message.starts_with("state file '" + path + "' is damaged: "))
      << server.error().message;
  std::ifstream file(path);
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(file), {}), bytes);
}

TEST(Server, AFileOfAnotherProgramIsRefused) {
  const TemporaryDirectory folder;
  const std::string path = wire::database_path(folder.path());
  {
    auto other = sqlite::Database::open_file(path, sqlite::Database::Access::Write, {});
    ASSERT_TRUE(other.ok());
    ASSERT_TRUE(other->execute("CREATE TABLE t (x)").ok());
  }
  const auto server = Server::start(sample_options(folder.path()));
  ASSERT_FALSE(server.ok());
  EXPECT_EQ(server.error().message, "'" + path + "' is no state file of a scheduler");
}

}  // namespace
}  // namespace attune::server
