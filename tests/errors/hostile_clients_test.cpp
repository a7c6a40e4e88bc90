// Clients of a shared scheduler that mean harm: another user of the group, who speaks the protocol
// itself. Each gets nothing that is not theirs, and the scheduler and the jobs of its own user are
// as before. Every call of the service is tried without the right to it; access.cpp has the table.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "base/temporary_directory_testing.h"
#include "base/version.h"
#include "fleet/server/worker_connection.h"
#include "fleet/wire/state_directory.h"
#include "fleet/wire/status.h"
#include "fleet/wire/unix_socket.h"
#include "tests/support/background_process.h"
#include "tests/support/process.h"
#include "tests/support/second_user.h"

namespace attune {
namespace {

namespace fs = std::filesystem;
using Stub = v1::Scheduler::Stub;

std::string words_of(const grpc::Status& status) {
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

std::string submit(Stub& stub, const std::function<void(v1::JobSpec&)>& change,
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

std::string upload(Stub& stub, const std::vector<std::string>& names) {
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
std::string answer(server::WorkerConnection& worker) {
  v1::ToWorker message;
  if (!worker.read(message)) return "the stream has ended";
  if (message.has_refused()) return message.refused().why();
  return message.has_welcome() ? "welcome" : "something else";
}

class HostileClients : public ::testing::Test {
 protected:
  void SetUp() override {
    ATTUNE_NEEDS_SECOND_USER();
    ASSERT_EQ(::chmod(directory_.path().c_str(), 0755), 0);
    scheduler_ = std::make_unique<test::BackgroundProcess>(
        std::vector<std::string>{test::attune_program(), "scheduler", "--workers", "0", "--share",
                                 test::kNobodysGroup, "--state", state_},
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
  test::ProcessResult own(std::vector<std::string> words) const {
    words.insert(words.begin(), test::attune_program());
    words.insert(words.end(), {"--state", state_});
    return test::run_process(words, environment());
  }
  // What the other user hears, with a connection of their own.
  std::string other(const std::function<std::string(Stub&)>& act) const {
    return test::act_as_nobody([&] {
      const Result<wire::Line> line = wire::open_line(state_);
      if (!line.ok()) return line.error().message;
      return act(*v1::Scheduler::NewStub(line->channel));
    });
  }
  std::string as_worker(const std::function<std::string(server::WorkerConnection&)>& act,
                        const std::string& token, const std::vector<v1::Job>& holds = {}) const {
    return test::act_as_nobody([&] {
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

  test::TemporaryDirectory directory_;
  const std::string state_ = directory_.file("state");
  std::unique_ptr<test::BackgroundProcess> scheduler_;
};

TEST_F(HostileClients, ReachTheSocketAlone) {
  struct stat status = {};
  ASSERT_EQ(::stat(wire::shared_directory(state_).c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 07777, 0750u);
  EXPECT_EQ(status.st_gid, test::kNobody);
  ASSERT_EQ(::stat(state_.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 07777, 0700u);
  EXPECT_EQ(std::distance(fs::directory_iterator(wire::shared_directory(state_)), {}), 1);
  EXPECT_EQ(test::act_as_nobody([&] {
              return wire::listen_at_path(wire::shared_directory(state_) + "/socket", 0666).ok()
                         ? "it listens"
                         : "refused";
            }),
            "refused");
}

TEST_F(HostileClients, DoNothingToTheJobsOfOthers) {
  for (const v1::Wish wish : {v1::PAUSE, v1::RESUME, v1::STOP, v1::CANCEL}) {
    for (const std::string job : {"j1", "mine"}) {
      EXPECT_EQ(other([&](Stub& stub) {
                  v1::ControlRequest request;
                  request.set_job(job);
                  request.set_wish(wish);
                  v1::ControlReply reply;
                  return ask(stub, &Stub::Control, request, reply);
                }),
                job == "j1" ? "job 'j1' is root's" : "there is no job 'mine'");
    }
  }
}

TEST_F(HostileClients, SeeNoDetailsOfTheJobsOfOthers) {
  EXPECT_EQ(other([](Stub& stub) {
              v1::ListRequest request;
              request.set_job("j1");
              v1::Snapshot reply;
              return ask(stub, &Stub::List, request, reply);
            }),
            "job 'j1' is root's");
  EXPECT_EQ(other([](Stub& stub) {
              v1::ListRequest request;
              request.set_job("j1");
              grpc::ClientContext context;
              const auto reader = stub.Watch(&context, request);
              v1::Snapshot reply;
              return reader->Read(&reply) ? "it is shown" : words_of(reader->Finish());
            }),
            "job 'j1' is root's");
  EXPECT_EQ(other([](Stub& stub) {
              v1::Snapshot reply;
              (void)ask(stub, &Stub::List, v1::ListRequest(), reply);
              const v1::Job& job = reply.jobs(0);
              return fmt::format("{} {} {}|{}|{}|{}", job.id(), job.spec().user(), int(job.state()),
                                 job.spec().name(), job.spec().model(), job.spec().options_json());
            }),
            "j1 root 0|j1||");
}

TEST_F(HostileClients, FetchNothingOfOthers) {
  EXPECT_EQ(other([](Stub& stub) {
              v1::FetchRequest request;
              request.set_job("j1");
              grpc::ClientContext context;
              const auto reader = stub.Fetch(&context, request);
              v1::FilePart part;
              return reader->Read(&part) ? "it is sent" : words_of(reader->Finish());
            }),
            "job 'j1' is root's");
}

TEST_F(HostileClients, AreTheirOwnUserWhateverTheySay) {
  EXPECT_EQ(other([](Stub& stub) {
              return submit(stub, [](v1::JobSpec& spec) { spec.set_user("root"); });
            }),
            "the job is said to be root's, but nobody submits it");
  EXPECT_EQ(other([](Stub& stub) { return submit(stub, [](v1::JobSpec&) {}); }), "j2 of nobody");
  EXPECT_EQ(other([](Stub& stub) {
              return submit(
                  stub, [](v1::JobSpec&) {}, "k");
            }),
            "j3 of nobody")
      << "another's key is not theirs";
  EXPECT_EQ(other([](Stub& stub) {
              return submit(stub, [](v1::JobSpec& spec) { spec.set_name("mine"); });
            }),
            "j4 of nobody")
      << "a name may be two users'";
}

TEST_F(HostileClients, HaveNoFilesReadOrWrittenByTheirPaths) {
  const std::string refusal = "the scheduler opens no files of nobody by their paths";
  const std::string sent = other([](Stub& stub) { return upload(stub, {"net.onnx"}); });
  const std::string mine = directory_.write("mine", "as it was");
  for (const std::string& path : {mine, std::string("../mine"), std::string("/dev/shm/x")}) {
    EXPECT_EQ(other([&](Stub& stub) {
                return submit(stub, [&](v1::JobSpec& spec) { spec.set_model(path); });
              }),
              refusal);
    EXPECT_EQ(other([&](Stub& stub) {
                return submit(stub, [&](v1::JobSpec& spec) { spec.set_output(path); });
              }),
              refusal);
    EXPECT_EQ(other([&](Stub& stub) {
                return submit(stub, [&](v1::JobSpec& spec) {
                  spec.set_output(path);
                  spec.set_files(sent);
                });
              }),
              refusal);
  }
  EXPECT_EQ(directory_.read("mine"), "as it was");
}

TEST_F(HostileClients, SendFilesNowhereElse) {
  for (const std::string name :
       {"../up", "/tmp/attune-absolute", "a/../../up", "a//b", ".", "..", "a/./b", "a/"}) {
    EXPECT_EQ(other([&](Stub& stub) { return upload(stub, {name}); }),
              "'" + name + "' cannot be the name of a file that is sent");
  }
  EXPECT_EQ(other([](Stub& stub) {
              return upload(stub, {"x", "x"});
            }),
            "the file 'x' is sent twice");
  EXPECT_EQ(other([](Stub& stub) { return upload(stub, {}); }), "no file was sent");
  EXPECT_TRUE(fs::is_empty(wire::upload_path(state_, ""))) << "nothing is left of them";
  EXPECT_FALSE(fs::exists("/tmp/attune-absolute"));
}

TEST_F(HostileClients, FillTheDiskWithFewUploads) {
  EXPECT_EQ(other([](Stub& stub) {
              std::string last;
              for (int i = 0; i < 5; ++i) last = upload(stub, {"x"});
              return last;
            }),
            "4 uploads of this user wait for their jobs already");
}

TEST_F(HostileClients, CannotTakeFilesOfOthers) {
  const std::string theirs = "0-00000000000000000000000000000000";
  EXPECT_EQ(other([&](Stub& stub) {
              return submit(stub, [&](v1::JobSpec& spec) { spec.set_files(theirs); });
            }),
            "'" + theirs + "' are no files that nobody has sent");
  EXPECT_EQ(other([](Stub& stub) {
              return submit(stub, [](v1::JobSpec& spec) { spec.set_files("65534-../../jobs/j1"); });
            }),
            "'65534-../../jobs/j1' are no files that nobody has sent");
  EXPECT_EQ(other([](Stub& stub) {
              return submit(stub, [](v1::JobSpec& spec) {
                spec.set_files("65534-00000000000000000000000000000000");
              });
            }),
            "the files of the job are not there any more");
}

TEST_F(HostileClients, AreNoWorkers) {
  const std::string refusal =
      "the worker has no token that is good; 'attune scheduler token' gives out one";
  const auto hear = [](server::WorkerConnection& worker) { return answer(worker); };
  EXPECT_EQ(as_worker(hear, ""), refusal);
  EXPECT_EQ(as_worker(hear, std::string(64, '0')), refusal);
  EXPECT_EQ(other([](Stub& stub) { return token(stub, v1::WORKER); }),
            "only the scheduler's user may let workers take part");
  const std::string roots = own({"scheduler", "token", "--worker"}).output;
  EXPECT_EQ(as_worker(hear, roots.substr(0, 64)), refusal) << "it was another's";
  v1::Job held;
  held.set_id("j1");
  held.set_epoch(0);
  EXPECT_EQ(as_worker(hear, "", {held}), "the worker was away for too long");
}

TEST_F(HostileClients, BringJobsOfTheirOwnAlone) {
  const std::string theirs = other([](Stub& stub) { return token(stub, v1::TUNER); });
  ASSERT_EQ(theirs.size(), 64u) << theirs;
  EXPECT_EQ(as_worker([](auto& worker) { return answer(worker); }, theirs),
            "the token is a tuner's, which is given no jobs of others");
  EXPECT_EQ(as_worker([](auto& worker) { return answer(worker); }, theirs),
            "the worker has no token that is good; 'attune scheduler token' gives out one")
      << "it was used up";
}

TEST_F(HostileClients, WhoSayNothingOrNonsenseAreLeftAlone) {
  EXPECT_EQ(test::act_as_nobody([&] {
              std::vector<wire::Descriptor> open;
              for (int i = 0; i < 300; ++i) {
                wire::Connecting made =
                    wire::connect_to_path(wire::socket_path(wire::shared_directory(state_)));
                const std::string garbage(i * 10, static_cast<char>(i));
                (void)!::send(made.socket.number(), garbage.data(), garbage.size(), MSG_NOSIGNAL);
                open.push_back(std::move(made.socket));
              }
              return "done";
            }),
            "done");
  EXPECT_EQ(other([](Stub& stub) {
              return submit(stub, [](v1::JobSpec& spec) {
                spec.set_options_json(std::string(5 << 20, ' '));
              });
            }).find("Received message larger than max"),
            0u);
}

TEST_F(HostileClients, WhoSpeakAndNeverListenAreCutOff) {
  const auto resident_kb = [&] {
    std::ifstream status("/proc/" + directory_.read("state/lock") + "/status");
    std::string word;
    while (status >> word && word != "VmRSS:") {
    }
    long kb = 0;
    status >> kb;
    return kb;
  };
  const long before = resident_kb();
  ASSERT_GT(before, 0);
  EXPECT_EQ(other([](Stub& stub) {
              grpc::ClientContext context;
              const auto stream = stub.Work(&context);
              v1::FromWorker junk;
              junk.mutable_offer()->set_job(std::string(1000, 'x'));
              int count = 0;
              while (count < 1'000'000 && stream->Write(junk)) ++count;
              return count < 1'000'000 ? "cut off" : "heard out";
            }),
            "cut off");
  EXPECT_LT(resident_kb() - before, 100'000);
}

TEST_F(HostileClients, WhoStopHalfWayDoNotKeepItFromEnding) {
  const test::Nobody other_user([&] {
    static const Result<wire::Line> line = wire::open_line(state_);
    static const auto stub = v1::Scheduler::NewStub(line->channel);
    static grpc::ClientContext upload_context, watch_context;
    static v1::UploadReply reply;
    static const auto writer = stub->Upload(&upload_context, &reply);
    v1::FilePart part;
    part.set_name("x");
    static const auto reader = stub->Watch(&watch_context, {});
    return writer->Write(part) ? "begun" : "refused";
  });
  EXPECT_EQ(other_user.said(), "begun");
  TearDown();
  scheduler_.reset();
}

}  // namespace
}  // namespace attune
