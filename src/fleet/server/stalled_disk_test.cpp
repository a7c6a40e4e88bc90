// A scheduler whose disk stands still for a while: nobody is punished for it, nothing is lost, and
// what waits does not fill the memory.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <future>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "base/temporary_directory_testing.h"
#include "fleet/server/server.h"
#include "fleet/server/server_testing.h"
#include "fleet/server/state_file.h"
#include "fleet/wire/state_directory.h"
#include "fleet/wire/status.h"
#include "fleet/wire/unix_socket.h"

namespace attune::server {
namespace {

using test::TemporaryDirectory;

v1::SubmitReply submit(v1::Scheduler::Stub& stub, const std::string& device = "cpu") {
  grpc::ClientContext context;
  v1::SubmitRequest request;
  request.mutable_spec()->set_model("resnet18");
  request.mutable_spec()->set_name("a");
  request.mutable_spec()->set_device(device);
  v1::SubmitReply reply;
  const grpc::Status status = stub.Submit(&context, request, &reply);
  EXPECT_TRUE(status.ok()) << status.error_message();
  return reply;
}

// Until the call of somebody is seen, which waits for the disk.
void wait_for_a_job(v1::Scheduler::Stub& stub) {
  grpc::ClientContext context;
  v1::Snapshot snapshot;
  const auto watch = stub.Watch(&context, {});
  while (watch->Read(&snapshot) && snapshot.jobs_size() == 0) {
  }
  context.TryCancel();
}

v1::ToWorker next(WorkerConnection& worker) {
  v1::ToWorker message;
  EXPECT_TRUE(worker.read(message));
  return message;
}

// A disk that answers nobody until the object goes.
class StandingStill {
 public:
  explicit StandingStill(const std::string& state)
      : database_(*sqlite::Database::open_file(wire::database_path(state),
                                               sqlite::Database::Access::Write, {})),
        transaction_(begin(database_)) {}

 private:
  // The scheduler may write what it wrote last, and its own disk may be slow.
  static sqlite::Transaction begin(sqlite::Database& database) {
    for (;;) {
      auto begun = sqlite::Transaction::begin(database);
      if (begun.ok() || begun.error().message.find("held by another") == std::string::npos) {
        return std::move(*begun);
      }
    }
  }

  sqlite::Database database_;
  sqlite::Transaction transaction_;
};

// It sleeps: that the lease would be over by the real clock is what it is about.
TEST(StalledDisk, AWorkerThatWaitsForItKeepsItsJob) {
  const TemporaryDirectory folder;
  ServerOptions with = sample_options(folder.path());
  with.lease_seconds = 2;
  auto server = Server::start(std::move(with));
  ASSERT_TRUE(server.ok());
  const auto stub = sample_client(folder.path());
  submit(*stub);
  WorkerConnection worker(folder.path(), "1", (*server)->worker_token());
  next(worker);
  const v1::Job job = next(worker).assign().job();
  worker.send_kinds(job, 1);
  worker.offer(job, 1, 1);
  EXPECT_EQ(next(worker).start().stage(), 1);
  {
    const StandingStill disk(folder.path());
    worker.finish(job, 1, 0.5);
    std::this_thread::sleep_for(std::chrono::seconds(5));
  }
  EXPECT_EQ(next(worker).known().stage(), 1);
  worker.end(job, v1::DONE);
  EXPECT_EQ(next(worker).known().stage(), -1);
}

// One that is sent, to its last answer.
grpc::Status send_file(v1::Scheduler::Stub& stub) {
  grpc::ClientContext context;
  v1::UploadReply reply;
  const auto writer = stub.Upload(&context, &reply);
  v1::FilePart part;
  part.set_name("net.onnx");
  part.set_data("weights");
  (void)writer->Write(part);
  writer->WritesDone();
  return writer->Finish();
}

v1::FromWorker beat() {
  v1::FromWorker message;
  message.mutable_beat();
  return message;
}

// It sleeps for as long as a lease is, and longer: the worker is heard all the time.
TEST(StalledDisk, OfFilesThatAreSentHoldsUpNobodyElse) {
  const TemporaryDirectory folder;
  std::promise<void> answers;
  std::atomic<int> asked = 0;
  ServerOptions with = sample_options(folder.path());
  with.lease_seconds = 2;
  with.around.sync_file = [&, wait = answers.get_future().share()](const std::string& path) {
    asked += 1;
    wait.wait();
    return sync_file(path);
  };
  auto server = Server::start(std::move(with));
  ASSERT_TRUE(server.ok());
  const auto stub = sample_client(folder.path());
  submit(*stub);
  WorkerConnection worker(folder.path(), "1", (*server)->worker_token());
  next(worker);
  const v1::Job job = next(worker).assign().job();
  worker.send_kinds(job, 1);
  std::vector<std::thread> senders;
  for (int i = 0; i < 2; ++i) {
    senders.emplace_back([&] { EXPECT_TRUE(send_file(*stub).ok()); });
  }
  while (asked == 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  for (int i = 0; i < 20; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    worker.send(beat());
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(1));
    v1::Snapshot snapshot;
    EXPECT_TRUE(stub->List(&context, {}, &snapshot).ok());
  }
  worker.offer(job, 1, 1);
  EXPECT_EQ(next(worker).start().stage(), 1) << "the job is still its own";
  answers.set_value();
  for (std::thread& sender : senders) sender.join();
}

// More calls than may wait are refused at once; those that wait are answered when the disk is back.
TEST(StalledDisk, IsNotAskedForMore) {
  const TemporaryDirectory folder;
  auto server = Server::start(sample_options(folder.path()));
  ASSERT_TRUE(server.ok());
  const auto stub = sample_client(folder.path());
  submit(*stub);
  struct Call {
    grpc::ClientContext context;
    v1::ControlReply reply;
    grpc::Status status;
  };
  std::vector<Call> calls(1'100);
  std::mutex mutex;
  std::condition_variable answered;
  std::size_t refused = 0, done = 0;
  std::string sentence;
  std::optional<StandingStill> disk(folder.path());
  v1::ControlRequest request;
  request.set_job("a");
  for (std::size_t i = 0; i < calls.size(); ++i) {
    request.set_wish(i % 2 == 0 ? v1::PAUSE : v1::RESUME);
    stub->async()->Control(&calls[i].context, &request, &calls[i].reply, [&](grpc::Status status) {
      const std::lock_guard lock(mutex);
      (status.ok() ? done : refused) += 1;
      if (!status.ok()) sentence = wire::from_status(status).message;
      answered.notify_one();
    });
  }
  std::unique_lock lock(mutex);
  answered.wait(lock, [&] { return refused == calls.size() - 1'000; });
  EXPECT_EQ(done, 0u);
  EXPECT_TRUE(sentence.ends_with("wait for an answer already")) << sentence;
  disk.reset();
  answered.wait(lock, [&] { return done + refused == calls.size(); });
  EXPECT_EQ(done, 1'000u);
}

// What a worker says is heard no further than the disk follows.
TEST(StalledDisk, HoldsBackWhatWorkersSay) {
  const TemporaryDirectory folder;
  auto server = Server::start(sample_options(folder.path()));
  ASSERT_TRUE(server.ok());
  const auto stub = sample_client(folder.path());
  WorkerConnection worker(folder.path(), "1", (*server)->worker_token());
  next(worker);
  constexpr int kSaid = 1'000, kMostHeard = 300;
  std::atomic<int> heard = 0;
  std::optional<StandingStill> disk(folder.path());
  std::thread caller([&] { submit(*stub, "elsewhere"); });
  wait_for_a_job(*stub);
  v1::Job none;
  none.set_id("j99");
  std::thread reader([&] {
    for (; heard < kSaid; ++heard) {
      EXPECT_EQ(next(worker).refused().why(), "there is no job 'j99'");
    }
  });
  for (int i = 0; i < kSaid; ++i) worker.offer(none, i, 0);
  // Each of these is answered by the loop after what it had heard by then.
  for (int i = 0; i < 200; ++i) {
    grpc::ClientContext context;
    v1::FetchRequest request;
    request.set_job("j98");
    v1::FilePart part;
    const auto nothing = stub->Fetch(&context, request);
    EXPECT_FALSE(nothing->Read(&part));
    EXPECT_EQ(nothing->Finish().error_code(), grpc::StatusCode::NOT_FOUND);
  }
  EXPECT_LE(heard, kMostHeard);
  disk.reset();
  reader.join();
  caller.join();
  EXPECT_EQ(heard, kSaid);
}

TEST(StalledDisk, ThoseWhoCalledBeforeTheEndAreAnswered) {
  const TemporaryDirectory folder;
  auto server = Server::start(sample_options(folder.path()));
  ASSERT_TRUE(server.ok());
  const auto stub = sample_client(folder.path());
  std::optional<StandingStill> disk(folder.path());
  std::thread caller([&] { EXPECT_EQ(submit(*stub).job().id(), "j1"); });
  wait_for_a_job(*stub);
  std::thread ending([&] { server->reset(); });
  // It is about to end when nobody listens any more.
  while (wire::connect_to_path(wire::socket_path(folder.path())).error == 0) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  disk.reset();
  caller.join();
  ending.join();
}

// What such a call uses stays where it is until the process ends.
TEST(StalledDisk, DoesNotKeepTheEndFromComing) {
  const TemporaryDirectory folder;
  ServerOptions with = sample_options(folder.path());
  with.end_seconds = 0.2;
  auto server = Server::start(std::move(with));
  ASSERT_TRUE(server.ok());
  const auto stub = sample_client(folder.path());
  const StandingStill disk(folder.path());
  std::thread caller([&] {
    grpc::ClientContext context;
    v1::SubmitRequest request;
    request.mutable_spec()->set_model("resnet18");
    v1::SubmitReply reply;
    EXPECT_FALSE(stub->Submit(&context, request, &reply).ok());
  });
  grpc::ClientContext context;
  v1::Snapshot snapshot;
  const auto watch = stub->Watch(&context, {});
  while (watch->Read(&snapshot) && snapshot.jobs_size() == 0) {
  }
  server->reset();
  caller.join();
  EXPECT_FALSE(watch->Read(&snapshot));
}

}  // namespace
}  // namespace attune::server
