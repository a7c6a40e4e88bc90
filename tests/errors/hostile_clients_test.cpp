// Clients of a shared scheduler that mean harm: another user of the group, who speaks the protocol
// itself. Each gets nothing that is not theirs, and the scheduler and the jobs of its own user are
// as before. Every call of the service is tried without the right to it; access.cpp has the table.
#include <filesystem>

#include "fleet/wire/state_directory.h"
#include "fleet/wire/unix_socket.h"
#include "tests/support/hostile_client.h"

namespace attune {
namespace {

namespace fs = std::filesystem;
using test::Stub;

class HostileClients : public test::HostileClient {};

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
                  return test::ask(stub, &Stub::Control, request, reply);
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
              return test::ask(stub, &Stub::List, request, reply);
            }),
            "job 'j1' is root's");
  EXPECT_EQ(other([](Stub& stub) {
              v1::ListRequest request;
              request.set_job("j1");
              grpc::ClientContext context;
              const auto reader = stub.Watch(&context, request);
              v1::Snapshot reply;
              return reader->Read(&reply) ? "it is shown" : test::words_of(reader->Finish());
            }),
            "job 'j1' is root's");
  EXPECT_EQ(other([](Stub& stub) {
              v1::Snapshot reply;
              (void)test::ask(stub, &Stub::List, v1::ListRequest(), reply);
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
              return reader->Read(&part) ? "it is sent" : test::words_of(reader->Finish());
            }),
            "job 'j1' is root's");
}

TEST_F(HostileClients, AreTheirOwnUserWhateverTheySay) {
  EXPECT_EQ(other([](Stub& stub) {
              return test::submit(stub, [](v1::JobSpec& spec) { spec.set_user("root"); });
            }),
            "the job is said to be root's, but nobody submits it");
  EXPECT_EQ(other([](Stub& stub) { return test::submit(stub, [](v1::JobSpec&) {}); }),
            "j2 of nobody");
  EXPECT_EQ(other([](Stub& stub) {
              return test::submit(
                  stub, [](v1::JobSpec&) {}, "k");
            }),
            "j3 of nobody")
      << "another's key is not theirs";
  EXPECT_EQ(other([](Stub& stub) {
              return test::submit(stub, [](v1::JobSpec& spec) { spec.set_name("mine"); });
            }),
            "j4 of nobody")
      << "a name may be two users'";
}

TEST_F(HostileClients, HaveNoFilesReadOrWrittenByTheirPaths) {
  const std::string refusal = "the scheduler opens no files of nobody by their paths";
  const std::string sent = other([](Stub& stub) { return test::upload(stub, {"net.onnx"}); });
  const std::string mine = directory_.write("mine", "as it was");
  for (const std::string& path : {mine, std::string("../mine"), std::string("/dev/shm/x")}) {
    EXPECT_EQ(other([&](Stub& stub) {
                return test::submit(stub, [&](v1::JobSpec& spec) { spec.set_model(path); });
              }),
              refusal);
    EXPECT_EQ(other([&](Stub& stub) {
                return test::submit(stub, [&](v1::JobSpec& spec) { spec.set_output(path); });
              }),
              refusal);
    EXPECT_EQ(other([&](Stub& stub) {
                return test::submit(stub, [&](v1::JobSpec& spec) {
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
    EXPECT_EQ(other([&](Stub& stub) { return test::upload(stub, {name}); }),
              "'" + name + "' cannot be the name of a file that is sent");
  }
  EXPECT_EQ(other([](Stub& stub) {
              return test::upload(stub, {"x", "x"});
            }),
            "the file 'x' is sent twice");
  EXPECT_EQ(other([](Stub& stub) { return test::upload(stub, {}); }), "no file was sent");
  EXPECT_TRUE(fs::is_empty(wire::upload_path(state_, ""))) << "nothing is left of them";
  EXPECT_FALSE(fs::exists("/tmp/attune-absolute"));
}

TEST_F(HostileClients, CannotTakeFilesOfOthers) {
  const std::string theirs = "0-00000000000000000000000000000000";
  EXPECT_EQ(other([&](Stub& stub) {
              return test::submit(stub, [&](v1::JobSpec& spec) { spec.set_files(theirs); });
            }),
            "'" + theirs + "' are no files that nobody has sent");
  EXPECT_EQ(other([](Stub& stub) {
              return test::submit(stub,
                                  [](v1::JobSpec& spec) { spec.set_files("65534-../../jobs/j1"); });
            }),
            "'65534-../../jobs/j1' are no files that nobody has sent");
  EXPECT_EQ(other([](Stub& stub) {
              return test::submit(stub, [](v1::JobSpec& spec) {
                spec.set_files("65534-00000000000000000000000000000000");
              });
            }),
            "the files of the job are not there any more");
}

TEST_F(HostileClients, AreNoWorkers) {
  const std::string refusal =
      "the worker has no token that is good; 'attune scheduler token' gives out one";
  const auto hear = [](server::WorkerConnection& worker) { return test::answer(worker); };
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
  EXPECT_EQ(as_worker([](auto& worker) { return test::answer(worker); }, theirs),
            "the token is a tuner's, which is given no jobs of others");
  EXPECT_EQ(as_worker([](auto& worker) { return test::answer(worker); }, theirs),
            "the worker has no token that is good; 'attune scheduler token' gives out one")
      << "it was used up";
}

}  // namespace
}  // namespace attune
