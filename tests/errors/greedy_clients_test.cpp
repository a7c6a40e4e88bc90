// Clients of a shared scheduler that want to use it up, by asking, connecting or sending too much,
// or by never finishing what they began. It serves others meanwhile.
#include <sys/socket.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <memory>
#include <thread>
#include <vector>

#include "fleet/jobs/book/user_limits.h"
#include "fleet/wire/limits.h"
#include "fleet/wire/state_directory.h"
#include "fleet/wire/unix_socket.h"
#include "tests/support/half_calls.h"
#include "tests/support/hostile_client.h"
#include "tests/support/kept_connections.h"

namespace attune {
namespace {

using test::Stub;

class GreedyClients : public test::HostileClient {
 protected:
  std::string socket() const { return wire::socket_path(wire::shared_directory(state_)); }
  long resident_kb() const {
    std::ifstream status("/proc/" + directory_.read("state/lock") + "/status");
    std::string word;
    while (status >> word && word != "VmRSS:") {
    }
    long kb = 0;
    status >> kb;
    return kb;
  }
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
              return fmt::format("{} after {} calls", last, asked > 100 ? "some" : "few");
            }),
            "nobody asks this scheduler too often after some calls");
}

// Whichever call brings them: what is read from the disk for it counts, and what is known already.
TEST_F(GreedyClients, WhoAskForLongReportsMayAskLessOften) {
  EXPECT_EQ(other([](Stub& stub) {
              v1::SubmitRequest request;
              request.mutable_spec()->set_model("matmul:m=32,n=32,k=32");
              request.set_idempotency_key("long");
              request.set_known_json(std::string(1'000'000, '1'));
              v1::ListRequest list;
              list.set_job("j2");
              const auto until_refused = [](const auto& ask) {
                std::string said = "it is done";
                int asked = 0;
                for (; asked < 20 && said == "it is done"; ++asked) said = ask();
                return said + (asked < 6 ? " after few" : " after many");
              };
              v1::SubmitReply reply;
              v1::Snapshot seen;
              const std::string heard =
                  until_refused([&] { return test::ask(stub, &Stub::Submit, request, reply); });
              std::this_thread::sleep_for(std::chrono::seconds(4));  // until it may ask again
              return heard + "; " +
                     until_refused([&] { return test::ask(stub, &Stub::List, list, seen); });
            }),
            "nobody asks this scheduler too often after few; "
            "nobody asks this scheduler too often after few");
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

// Messages are taken in before anybody asks whose they are.
TEST_F(GreedyClients, WhoSendLargeMessagesThatNeverEndFillLittleOfTheMemory) {
  const long before = resident_kb();
  ASSERT_GT(before, 0);
  const test::Nobody sends([&] {
    std::size_t sent = 0;
    static std::vector<test::HalfCalls> all;
    for (int i = 0; i < 2; ++i) {
      wire::Connecting made = wire::connect_to_path(socket());
      test::HalfCalls& calls = all.emplace_back(std::move(made.socket));
      for (int call = 0; call < jobs::kCallsOfAConnection; ++call) {
        calls.begin("/attune.v1.Scheduler/Submit", wire::kLargestMessage - 1000);
      }
      calls.send_all(1000);
      sent += calls.sent();
    }
    return fmt::format("{} MiB", sent >> 20);
  });
  EXPECT_TRUE(sends.said().ends_with(" MiB")) << sends.said();
  EXPECT_LT(resident_kb() - before, 250'000) << "of " << sends.said();
  EXPECT_EQ(own({"jobs"}).status, 0);
}

TEST_F(GreedyClients, WhoHoldManyConnectionsGetNoMore) {
  EXPECT_EQ(test::act_as_nobody([&] {
              test::KeptConnections kept(socket());
              for (std::size_t i = 0; i < jobs::kConnectionsOfAUser; ++i) {
                const std::string said = kept.open();
                if (!said.empty()) return fmt::format("{} at connection {}", said, i);
              }
              std::string said = kept.insist();
              kept.close_one();
              return said + "; " + kept.insist();
            }),
            "this user connects too often, or has too many connections; ");
  EXPECT_EQ(own({"jobs"}).status, 0);
}

// Of how many users there may be at once: ManyUsers in server_test.
TEST_F(GreedyClients, WhoAreManyUsersAreSentAway) {
  const test::Crowd crowd([&]() -> std::string {
    test::KeptConnections kept(socket());
    for (uid_t uid = 100'000; uid < 100'300; ++uid) {
      test::be_user(uid);
      const std::string said = kept.open();
      if (said != fmt::format("user {} is not known on this machine", uid)) return said;
    }
    return "all are sent away";
  });
  EXPECT_EQ(crowd.said(), "all are sent away");
  EXPECT_EQ(own({"jobs"}).status, 0);
}

// Streams of workers who say nothing.
class Silent {
 public:
  explicit Silent(Stub& stub) : stream_(stub.Work(&context_)) {}
  std::string end() {
    context_.TryCancel();
    return test::words_of(stream_->Finish());
  }
  std::string wait() { return test::words_of(stream_->Finish()); }

 private:
  grpc::ClientContext context_;
  std::unique_ptr<grpc::ClientReaderWriter<v1::FromWorker, v1::ToWorker>> stream_;
};

TEST_F(GreedyClients, WhoMakeManyCallsAtOnceWaitWithTheNext) {
  EXPECT_EQ(
      other([](Stub& stub) {
        const auto list = [&](int seconds) {
          grpc::ClientContext context;
          context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(seconds));
          v1::Snapshot reply;
          return test::words_of(stub.List(&context, {}, &reply));
        };
        std::string heard = list(60);  // and what the server allows
        std::vector<std::unique_ptr<Silent>> calls;
        for (int i = 0; i < jobs::kCallsOfAConnection; ++i) {
          calls.push_back(std::make_unique<Silent>(stub));
        }
        heard += "; " + list(1);
        (void)calls.back()->end();
        return heard + "; " + list(60);
      }),
      "it is done; Deadline Exceeded; it is done");
}

TEST_F(GreedyClients, WhoHoldManyStreamsGetNoMore) {
  EXPECT_EQ(
      other([&](Stub& stub) {
        std::vector<std::unique_ptr<Silent>> calls;
        for (int i = 0; i < jobs::kStreamsOfAUser; ++i) {
          calls.push_back(std::make_unique<Silent>(stub));
        }
        // On a connection of its own; until the others have been heard, it gets its place.
        const Result<wire::Line> line = wire::open_line(state_);
        const auto another = v1::Scheduler::NewStub(line->channel);
        std::string heard;
        for (int i = 0; i < 100 && heard.empty(); ++i) {
          grpc::ClientContext context;
          context.set_deadline(std::chrono::system_clock::now() + std::chrono::milliseconds(200));
          v1::ToWorker message;
          const auto stream = another->Work(&context);
          while (stream->Read(&message)) {
          }
          const grpc::Status status = stream->Finish();
          if (status.error_code() == grpc::StatusCode::RESOURCE_EXHAUSTED) {
            heard = status.error_message();
          }
        }
        v1::Snapshot reply;
        return heard + "; " + test::ask(*another, &Stub::List, v1::ListRequest(), reply);
      }),
      "nobody has 64 streams under way already, may have no more; it is done");
}

TEST_F(GreedyClients, WhoWatchManyTimesGetNoMore) {
  EXPECT_EQ(other([&](Stub& stub) {
              grpc::ClientContext contexts[jobs::kWatchersOfAUser + 1];
              std::vector<std::unique_ptr<grpc::ClientReader<v1::Snapshot>>> readers;
              v1::Snapshot seen;
              for (grpc::ClientContext& context : contexts) {
                readers.push_back(stub.Watch(&context, {}));
                if (!readers.back()->Read(&seen)) return test::words_of(readers.back()->Finish());
              }
              return std::string("all of them watch");
            }),
            "nobody has 16 streams that watch under way already, may have no more");
}

// A tuner that says more than it may is heard more slowly, and in order.
TEST_F(GreedyClients, WhoSayTooMuchAreHeardMoreSlowly) {
  EXPECT_EQ(
      other([&](Stub& stub) {
        const std::string good = token(stub, v1::TUNER);
        grpc::ClientContext context;
        const auto stream = stub.Work(&context);
        v1::FromWorker hello, offer;
        hello.mutable_hello()->set_version(version());
        hello.mutable_hello()->set_token(good);
        stream->Write(hello);
        v1::ToWorker heard;
        if (!stream->Read(&heard) || !heard.has_welcome()) return std::string("no welcome");
        constexpr int kMany = 6000;
        std::thread speaks([&] {
          for (int i = 0; i < kMany; ++i) {
            offer.mutable_offer()->set_stage(i);
            if (!stream->Write(offer)) return;
          }
        });
        const auto begun = std::chrono::steady_clock::now();
        int answers = 0;
        while (answers < kMany && stream->Read(&heard) && heard.refused().stage() == answers) {
          ++answers;
        }
        const auto passed = std::chrono::steady_clock::now() - begun;
        context.TryCancel();
        speaks.join();
        // What is beyond the first of them comes at the rate that the table says.
        const double beyond = kMany - jobs::kMessageRate.at_once;
        const bool slow =
            passed > std::chrono::duration<double>(0.8 * beyond / jobs::kMessageRate.a_second);
        return fmt::format("{} answers, {}", answers, slow ? "slowly" : "at once");
      }),
      "6000 answers, slowly");
}

}  // namespace
}  // namespace attune
