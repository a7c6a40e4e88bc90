// A scheduler that is shared with a group: a second user submits a model and gets what it made, as
// files of their own; what they name by its path is neither read nor written.
#include <grpcpp/client_context.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "app/verbs/jobs/job_options.h"
#include "base/temporary_directory_testing.h"
#include "base/version.h"
#include "fleet/client/client.h"
#include "fleet/wire/channel.h"
#include "fleet/wire/jobs.grpc.pb.h"
#include "tests/support/background_process.h"
#include "tests/support/process.h"
#include "tests/support/second_user.h"

namespace attune {
namespace {

namespace fs = std::filesystem;

class SharedScheduler : public ::testing::Test {
 protected:
  void SetUp() override {
    ATTUNE_NEEDS_SECOND_USER();
    ASSERT_EQ(::chmod(directory_.path().c_str(), 0755), 0);
    fs::create_directory(home_);
    ASSERT_EQ(::chown(home_.c_str(), test::kNobody, test::kNobody), 0);
    ASSERT_EQ(::chmod(home_.c_str(), 0700), 0);
    scheduler_ = std::make_unique<test::BackgroundProcess>(
        std::vector<std::string>{test::attune_program(), "scheduler", "--workers", "1", "--share",
                                 test::kNobodysGroup, "--state", state_},
        std::map<std::string, std::string>{{"XDG_DATA_HOME", directory_.file("data")}});
    ASSERT_TRUE(scheduler_->wait_for_error_text("serving"));
  }
  void TearDown() override {
    if (!scheduler_) return;
    scheduler_->send_signal(SIGTERM);
    EXPECT_EQ(scheduler_->finish().status, 0);
  }
  test::ProcessResult other(std::vector<std::string> words) const {
    words.insert(words.begin(), test::attune_program());
    return test::run_process(test::as_nobody(std::move(words)),
                             {{"XDG_DATA_HOME", home_}, {"HOME", home_}});
  }
  std::string mine(const std::string& name) const { return home_ + "/" + name; }

  test::TemporaryDirectory directory_;
  const std::string state_ = directory_.file("state"), home_ = directory_.file("home");
  std::unique_ptr<test::BackgroundProcess> scheduler_;
};

TEST_F(SharedScheduler, BringsItsUsersWhatTheirJobsMade) {
  ASSERT_EQ(other({"zoo", "export", "mlp", "-o", mine("net.onnx")}).status, 0);
  const test::ProcessResult submitted =
      other({"submit", mine("net.onnx"), "--trials", "2", "--threads", "1", "--wait", "--state",
             state_, "-o", mine("net.attune"), "--records", mine("records.db")});
  ASSERT_EQ(submitted.status, 0) << submitted.errors;
  for (const std::string name : {"net.attune", "records.db"}) {
    struct stat status = {};
    ASSERT_EQ(::stat(mine(name).c_str(), &status), 0) << name << ": " << submitted.errors;
    EXPECT_EQ(status.st_uid, test::kNobody) << name;
  }
  EXPECT_EQ(other({"run", mine("net.attune")}).status, 0);
  const auto known = other({"records", "list", "--json", "--records", mine("records.db")});
  EXPECT_FALSE(nlohmann::json::parse(known.output, nullptr, false)["records"].empty());
  // Once more, later, and by hand.
  fs::remove(mine("net.attune"));
  const test::ProcessResult fetched =
      other({"jobs", "fetch", "net", "--state", state_, "-o", mine("again.attune"), "--records",
             mine("records.db")});
  EXPECT_EQ(fetched.status, 0) << fetched.errors;
  EXPECT_EQ(other({"run", mine("again.attune")}).status, 0);
}

TEST_F(SharedScheduler, OpensNoFileThatTheyNameByItsPath) {
  const std::string secret = directory_.write("secret.db", "as it was");
  ASSERT_EQ(::chmod(secret.c_str(), 0600), 0);
  const std::string ended = test::act_as_nobody([&]() -> std::string {
    client::Client client({.state = state_});
    client::JobRequest request{.model = "matmul:m=32,n=32,k=32", .threads = 1, .trials = 2};
    request.options_json = to_json(verbs::JobOptions{.records = secret, .history = secret});
    const auto submitted = client.submit(request, "key");
    if (!submitted.ok()) return submitted.error().message;
    client::JobStatus last;
    const Status watched = client.watch("j1", 0, [&](const client::Overview& overview) {
      last = overview.jobs.front();
      return !client::has_ended(last.state);
    });
    return watched.ok() ? std::string(client::to_string(last.state)) + " " + last.reason
                        : watched.error().message;
  });
  EXPECT_EQ(ended.substr(0, 4), "done") << ended;
  EXPECT_EQ(directory_.read("secret.db"), "as it was");
  const std::string refused = test::act_as_nobody([&]() -> std::string {
    client::Client client({.state = state_});
    client::JobRequest request{.model = "matmul:m=32,n=32,k=32", .threads = 1, .trials = 2};
    request.options_json = to_json(verbs::JobOptions{.inputs = {{"a", secret}}});
    const auto submitted = client.submit(request, "other");
    if (!submitted.ok()) return submitted.error().message;
    client::JobStatus last;
    const Status watched = client.watch("j2", 0, [&](const client::Overview& overview) {
      last = overview.jobs.front();
      return !client::has_ended(last.state);
    });
    return last.reason;
  });
  EXPECT_EQ(refused, "'" + secret +
                         "' was not sent with the job; submit it with 'attune submit', "
                         "which sends what it names");
}

// All that a tuner says from its hello to its end; what it heard in place of what it expected.
std::string tune_by_hand(const std::string& state, const std::string& token) {
  const Result<wire::Line> line = wire::open_line(state);
  if (!line.ok()) return line.error().message;
  const auto stub = v1::Scheduler::NewStub(line->channel);
  grpc::ClientContext context;
  const auto stream = stub->Work(&context);
  v1::FromWorker hello, brings, offer, finished, ended;
  v1::ToWorker answer;
  const auto heard = [&](const v1::FromWorker& said) {
    return stream->Write(said) && stream->Read(&answer);
  };
  hello.mutable_hello()->set_version(version());
  hello.mutable_hello()->set_token(token);
  if (!heard(hello) || !answer.has_welcome()) return answer.refused().why();
  brings.mutable_register_()->mutable_spec()->set_name("script");
  v1::StageKind& kind = *brings.mutable_register_()->add_kinds();
  kind.set_name("measure");
  kind.set_pool("cpu");
  kind.set_left(1);
  if (!heard(brings) || answer.known().stage() != -2) return answer.refused().why();
  const v1::Known job = answer.known();
  const auto about = [&](auto* message) {
    message->set_job(job.job());
    message->set_epoch(job.epoch());
  };
  about(offer.mutable_offer());
  if (!heard(offer) || !answer.has_start()) return answer.refused().why();
  about(finished.mutable_finished());
  if (!heard(finished) || answer.known().stage() != 0) return answer.refused().why();
  about(ended.mutable_ended());
  ended.mutable_ended()->set_state(v1::DONE);
  return heard(ended) && answer.known().stage() == -1 ? "done" : answer.refused().why();
}

TEST_F(SharedScheduler, LetsAnotherTunerTakePartInItsUsersName) {
  std::string token = other({"scheduler", "token", "--state", state_}).output;
  ASSERT_EQ(token.size(), 65u) << token;
  token.pop_back();
  EXPECT_EQ(test::act_as_nobody([&] { return tune_by_hand(state_, token); }), "done");
  const test::ProcessResult shown = test::run_process(
      {test::attune_program(), "jobs", "show", "script", "--json", "--state", state_});
  const auto json = nlohmann::json::parse(shown.output, nullptr, false);
  EXPECT_EQ(json.value("user", ""), "nobody");
  EXPECT_EQ(json.value("state", ""), "done");
}

}  // namespace
}  // namespace attune
