// Files that are sent for a job, from the call to the job's folder.
#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <thread>
#include <vector>

#include "base/temporary_directory_testing.h"
#include "fleet/server/server.h"
#include "fleet/server/server_testing.h"
#include "fleet/wire/state_directory.h"

namespace attune::server {
namespace {

namespace fs = std::filesystem;

class FilesOfAJob : public ::testing::Test {
 protected:
  void SetUp() override { start(); }
  void start() {
    server_.reset();
    auto server = Server::start(sample_options(folder_.path()));
    ASSERT_TRUE(server.ok()) << server.error().message;
    server_ = std::move(*server);
    stub_ = sample_client(folder_.path());
  }
  std::string upload(const std::string& data) {
    grpc::ClientContext context;
    v1::UploadReply reply;
    const auto writer = stub_->Upload(&context, &reply);
    v1::FilePart part;
    part.set_name("net.onnx");
    part.set_data(data);
    writer->Write(part);
    writer->WritesDone();
    EXPECT_TRUE(writer->Finish().ok());
    return reply.files();
  }
  // Its number, or why there is none.
  std::string submit(const std::string& files, const std::string& key) {
    grpc::ClientContext context;
    v1::SubmitRequest request;
    request.mutable_spec()->set_model("net.onnx");
    request.mutable_spec()->set_files(files);
    request.set_idempotency_key(key);
    v1::SubmitReply reply;
    const grpc::Status status = stub_->Submit(&context, request, &reply);
    return status.ok() ? reply.job().id() : status.error_message();
  }
  v1::Job job(const std::string& id) {
    grpc::ClientContext context;
    v1::ListRequest request;
    request.set_job(id);
    v1::Snapshot snapshot;
    EXPECT_TRUE(stub_->List(&context, request, &snapshot).ok());
    return snapshot.jobs_size() > 0 ? snapshot.jobs(0) : v1::Job();
  }
  std::string path_of(const std::string& id, const std::string& files) const {
    return wire::job_path(folder_.path(), id) + "/" + files + "/net.onnx";
  }

  test::TemporaryDirectory folder_;
  std::unique_ptr<Server> server_;
  std::unique_ptr<v1::Scheduler::Stub> stub_;
};

TEST_F(FilesOfAJob, AreTheJobsWhenItIsAcknowledged) {
  const std::string files = upload("model");
  ASSERT_EQ(submit(files, "key"), "j1");
  EXPECT_TRUE(fs::exists(path_of("j1", files)));
  EXPECT_EQ(job("j1").files_bytes(), 5u);
  WorkerConnection worker(folder_.path(), "1", server_->worker_token());
  v1::ToWorker message;
  ASSERT_TRUE(worker.read(message) && worker.read(message));
  EXPECT_EQ(message.assign().job().id(), "j1");
  EXPECT_EQ(submit(files, "key"), "j1") << "the same key";
}

TEST_F(FilesOfAJob, ThatAreGoneEndTheJob) {
  const std::string files = upload("model");
  ASSERT_EQ(submit(files, "key"), "j1");
  EXPECT_EQ(submit(files, "other"), "the files of the job are not there any more");
  EXPECT_EQ(job("j2").state(), v1::CANCELLED);
}

// However many begin at the same moment.
TEST_F(FilesOfAJob, WaitForTheirJobsFourAtATime) {
  std::atomic<int> sent = 0;
  std::vector<std::thread> senders;
  for (int i = 0; i < 8; ++i) {
    senders.emplace_back([&] {
      grpc::ClientContext context;
      v1::UploadReply reply;
      const auto writer = stub_->Upload(&context, &reply);
      v1::FilePart part;
      part.set_name("net.onnx");
      (void)writer->Write(part);
      writer->WritesDone();
      if (writer->Finish().ok()) sent += 1;
    });
  }
  for (std::thread& sender : senders) sender.join();
  EXPECT_EQ(sent, 4);
}

}  // namespace
}  // namespace attune::server
