// Clients of a shared scheduler that want to use it up, by asking, connecting or sending too much,
// or by never finishing what they began. It serves others meanwhile.
#include <sys/socket.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <thread>

#include "fleet/wire/state_directory.h"
#include "fleet/wire/unix_socket.h"
#include "tests/support/hostile_client.h"

namespace attune {
namespace {

using test::Stub;

class GreedyClients : public test::HostileClient {
 protected:
  std::string socket() const { return wire::socket_path(wire::shared_directory(state_)); }
};

TEST_F(GreedyClients, FillTheDiskWithFewUploads) {
  EXPECT_EQ(other([](Stub& stub) {
              std::string last;
              for (int i = 0; i < 5; ++i) last = test::upload(stub, {"x"});
              return last;
            }),
            "4 uploads of this user wait for their jobs already");
}

// What looks like an end of the files may be one of the connection. Whoever was not told the name
// of their upload leaves none behind, so that four of them do not keep a fifth away.
TEST_F(GreedyClients, WhoBreakOffUploadsLeaveNothingBehind) {
  EXPECT_EQ(other([](Stub& stub) {
              for (int i = 0; i < 40; ++i) {
                grpc::ClientContext context;
                v1::UploadReply reply;
                const auto writer = stub.Upload(&context, &reply);
                v1::FilePart part;
                part.set_name("x");
                (void)writer->Write(part);
                writer->WritesDone();
                context.TryCancel();
                (void)writer->Finish();
              }
              return "broken off";
            }),
            "broken off");
  // The last of them may still be under way there.
  const std::filesystem::path uploads = wire::upload_path(state_, "");
  const auto begun = std::chrono::steady_clock::now();
  while (std::filesystem::exists(uploads) && !std::filesystem::is_empty(uploads) &&
         std::chrono::steady_clock::now() - begun < std::chrono::seconds(20)) {
    std::this_thread::yield();
  }
  EXPECT_TRUE(!std::filesystem::exists(uploads) || std::filesystem::is_empty(uploads));
}

TEST_F(GreedyClients, WhoSayNothingOrNonsenseAreLeftAlone) {
  EXPECT_EQ(other([](Stub& stub) {
              return test::submit(stub, [](v1::JobSpec& spec) {
                spec.set_options_json(std::string(5 << 20, ' '));
              });
            }).find("Received message larger than max"),
            0u);
  EXPECT_EQ(test::act_as_nobody([&] {
              std::vector<wire::Descriptor> open;
              for (int i = 0; i < 300; ++i) {
                wire::Connecting made = wire::connect_to_path(socket());
                const std::string garbage(i * 10, static_cast<char>(i));
                (void)!::send(made.socket.number(), garbage.data(), garbage.size(), MSG_NOSIGNAL);
                open.push_back(std::move(made.socket));
              }
              return "done";
            }),
            "done");
}

TEST_F(GreedyClients, WhoSpeakAndNeverListenAreCutOff) {
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

TEST_F(GreedyClients, WhoStopHalfWayDoNotKeepItFromEnding) {
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

TEST_F(GreedyClients, WhoAskTooOftenHearSoInOneSentence) {
  EXPECT_EQ(other([](Stub& stub) {
              std::string last;
              int asked = 0;
              for (; asked < 20'000 && (last.empty() || last == "it is done"); ++asked) {
                v1::Snapshot reply;
                last = test::ask(stub, &Stub::List, v1::ListRequest(), reply);
              }
              return fmt::format("{} after {} calls", last, asked > 512 ? "some" : "few");
            }),
            "nobody asks this scheduler too often after some calls");
}

// All kinds of calls count, streams too.
TEST_F(GreedyClients, WhoAskTooOftenMayBeginNoStreams) {
  EXPECT_EQ(other([](Stub& stub) {
              v1::Snapshot reply;
              while (test::ask(stub, &Stub::List, v1::ListRequest(), reply) == "it is done") {
              }
              std::string heard;
              for (int i = 0; i < 64; ++i) {
                v1::Snapshot seen;
                grpc::ClientContext context;
                const auto reader = stub.Watch(&context, {});
                const bool shown = reader->Read(&seen);
                if (shown) context.TryCancel();
                const std::string said = test::words_of(reader->Finish());
                if (!shown) heard = said;
              }
              return heard;
            }),
            "nobody asks this scheduler too often");
}

TEST_F(GreedyClients, OthersAreServedMeanwhile) {
  const test::Nobody flood([&] {
    for (int i = 0; i < 4; ++i) {
      std::thread([state = state_] {
        const Result<wire::Line> line = wire::open_line(state);
        if (!line.ok()) return;
        const auto stub = v1::Scheduler::NewStub(line->channel);
        for (;;) {
          v1::Snapshot reply;
          (void)test::ask(*stub, &Stub::List, v1::ListRequest(), reply);
        }
      }).detach();
    }
    return "it floods";
  });
  EXPECT_EQ(flood.said(), "it floods");
  for (int i = 0; i < 3; ++i) EXPECT_EQ(own({"jobs"}).status, 0);
}

TEST_F(GreedyClients, WhoConnectTooOftenHearSoInOneSentence) {
  EXPECT_EQ(test::act_as_nobody([&] {
              std::string heard;
              for (int i = 0; i < 2'000 && heard.empty(); ++i) {
                const wire::Connecting made = wire::connect_to_path(socket());
                if (made.error != 0) return fmt::format("cannot connect: {}", made.error);
                char bytes[512];
                // What is sent away is told so before anything is asked.
                const timeval moment{0, 2'000};
                ::setsockopt(made.socket.number(), SOL_SOCKET, SO_RCVTIMEO, &moment, sizeof moment);
                const ssize_t size = ::recv(made.socket.number(), bytes, sizeof bytes, 0);
                const std::string said(bytes, size > 0 ? static_cast<std::size_t>(size) : 0);
                const std::size_t at = said.find("this user");
                if (at != said.npos) heard = said.substr(at);
              }
              return heard;
            }),
            "this user connects too often, or has too many connections");
  EXPECT_EQ(own({"jobs"}).status, 0);
}

}  // namespace
}  // namespace attune
