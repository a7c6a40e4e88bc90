// Another user of a shared scheduler's group, who speaks the protocol itself and means harm.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <functional>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/temporary_directory_testing.h"
#include "base/version.h"
#include "fleet/server/worker_connection.h"
#include "fleet/wire/channel.h"
#include "tests/support/background_process.h"
#include "tests/support/process.h"
#include "tests/support/second_user.h"

namespace attune::test {

using Stub = v1::Scheduler::Stub;

inline std::string words_of(const grpc::Status& status) {
  return status.ok() ? "it is done" : status.error_message();
}

// One call with one answer.
template <typename Request, typename Reply>
std::string ask(Stub& stub,
                grpc::Status (Stub::*call)(grpc::ClientContext*, const Request&, Reply*),
                const Request& request, Reply& reply) {
  grpc::ClientContext context;
  return words_of((stub.*call)(&context, request, &reply));
}

inline std::string submit(Stub& stub, const std::function<void(v1::JobSpec&)>& change,
                          const std::string& key = "") {
  v1::SubmitRequest request;
  request.mutable_spec()->set_model("matmul:m=32,n=32,k=32");
  request.set_idempotency_key(key);
  change(*request.mutable_spec());
  v1::SubmitReply reply;
  const std::string said = ask(stub, &Stub::Submit, request, reply);
  return said == "it is done" ? fmt::format("{} of {}", reply.job().id(), reply.job().spec().user())
                              : said;
}

inline std::string upload(Stub& stub, const std::vector<std::string>& names) {
  grpc::ClientContext context;
  v1::UploadReply reply;
  const auto writer = stub.Upload(&context, &reply);
  for (const std::string& name : names) {
    v1::FilePart part;
    part.set_name(name);
    part.set_data("harm");
    if (!writer->Write(part)) break;
  }
  writer->WritesDone();
  const grpc::Status status = writer->Finish();
  return status.ok() ? reply.files() : status.error_message();
}

// The answer to a hello, or to a further message.
inline std::string answer(server::WorkerConnection& worker) {
  v1::ToWorker message;
  if (!worker.read(message)) return "the stream has ended";
  if (message.has_refused()) return message.refused().why();
  return message.has_welcome() ? "welcome" : "something else";
}

// Begins with a scheduler that serves nobody's group, and one job of its own user.
class HostileClient : public ::testing::Test {
 protected:
  void SetUp() override {
    ATTUNE_NEEDS_SECOND_USER();
    ASSERT_EQ(::chmod(directory_.path().c_str(), 0755), 0);
    scheduler_ = std::make_unique<BackgroundProcess>(
        std::vector<std::string>{attune_program(), "scheduler", "--workers", "0", "--share",
                                 kNobodysGroup, "--state", state_},
        environment());
    ASSERT_TRUE(scheduler_->wait_for_error_text("serving"));
    ASSERT_EQ(own({"submit", "matmul:m=32,n=32,k=32", "--name", "mine", "--key", "k"}).status, 0);
  }
  // Whatever was done, it serves on, with the job as it was, and ends when it is told to.
  void TearDown() override {
    if (!scheduler_) return;
    const auto json =
        nlohmann::json::parse(own({"jobs", "show", "mine", "--json"}).output, nullptr, false);
    EXPECT_EQ(json.value("state", "none"), "queued");
    EXPECT_EQ(json.value("id", "none"), "j1");
    scheduler_->send_signal(SIGTERM);
    EXPECT_EQ(scheduler_->finish().status, 0);
  }

  std::map<std::string, std::string> environment() const {
    return {{"XDG_DATA_HOME", directory_.file("data")}};
  }
  ProcessResult own(std::vector<std::string> words) const {
    words.insert(words.begin(), attune_program());
    words.insert(words.end(), {"--state", state_});
    return run_process(words, environment());
  }
  // What the other user hears, with a connection of their own.
  std::string other(const std::function<std::string(Stub&)>& act) const {
    return act_as_nobody([&] {
      const Result<wire::Line> line = wire::open_line(state_);
      if (!line.ok()) return line.error().message;
      return act(*v1::Scheduler::NewStub(line->channel));
    });
  }
  std::string as_worker(const std::function<std::string(server::WorkerConnection&)>& act,
                        const std::string& token, const std::vector<v1::Job>& holds = {}) const {
    return act_as_nobody([&] {
      server::WorkerConnection worker(state_, version(), token, holds);
      return act(worker);
    });
  }
  static std::string token(Stub& stub, v1::Purpose purpose) {
    v1::TokenRequest request;
    request.set_purpose(purpose);
    v1::TokenReply reply;
    const std::string said = ask(stub, &Stub::Token, request, reply);
    return said == "it is done" ? reply.token() : said;
  }

  TemporaryDirectory directory_;
  const std::string state_ = directory_.file("state");
  std::unique_ptr<BackgroundProcess> scheduler_;
};

}  // namespace attune::test
