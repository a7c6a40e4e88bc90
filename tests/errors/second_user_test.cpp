// A second user of the machine, and a scheduler that is not shared: whatever they try is refused
// with one sentence, and nothing of the scheduler's can be looked at.
#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>

#include "base/temporary_directory_testing.h"
#include "fleet/wire/channel.h"
#include "fleet/wire/state_directory.h"
#include "fleet/wire/unix_socket.h"
#include "tests/support/background_process.h"
#include "tests/support/hostile_client.h"
#include "tests/support/process.h"
#include "tests/support/second_user.h"

namespace attune {
namespace {

namespace fs = std::filesystem;

class SecondUser : public ::testing::Test {
 protected:
  void SetUp() override {
    ATTUNE_NEEDS_SECOND_USER();
    ASSERT_EQ(::chmod(directory_.path().c_str(), 0755), 0);  // the state itself is what is closed
    fs::create_directory(home_);
    ASSERT_EQ(::chown(home_.c_str(), test::kNobody, test::kNobody), 0);
    start({});
    ASSERT_EQ(own({"submit", "matmul:m=32,n=32,k=32", "--name", "mine"}).status, 0);
  }
  void TearDown() override {
    if (!scheduler_) return;
    scheduler_->send_signal(SIGTERM);
    EXPECT_EQ(scheduler_->finish().status, 0);
  }

  void start(const std::vector<std::string>& options, const std::string& workers = "0") {
    std::vector<std::string> words = {
        test::attune_program(), "scheduler", "--workers", workers, "--state", state_};
    words.insert(words.end(), options.begin(), options.end());
    scheduler_ = std::make_unique<test::BackgroundProcess>(words, environment());
    ASSERT_TRUE(scheduler_->wait_for_error_text("serving"));
  }
  std::map<std::string, std::string> environment() const { return {{"XDG_DATA_HOME", home_}}; }
  std::vector<std::string> command(std::vector<std::string> words) const {
    words.insert(words.begin(), test::attune_program());
    words.insert(words.end(), {"--state", state_});
    return words;
  }
  test::ProcessResult own(const std::vector<std::string>& words) const {
    return test::run_process(command(words), environment());
  }
  test::ProcessResult other(const std::vector<std::string>& words) const {
    return test::run_process(test::as_nobody(command(words)), environment());
  }
  std::string state_of_mine() const {
    const auto json =
        nlohmann::json::parse(own({"jobs", "show", "mine", "--json"}).output, nullptr, false);
    return json.value("state", "none");
  }

  test::TemporaryDirectory directory_;
  const std::string state_ = directory_.file("state"), home_ = directory_.file("home");
  std::unique_ptr<test::BackgroundProcess> scheduler_;
};

TEST_F(SecondUser, IsRefusedWithOneSentence) {
  const std::string refusal = "attune: error: the scheduler of " + state_ +
                              " is root's and is not shared with you\nhint: its user may start it "
                              "with --share GROUP, for a "
                              "group that you are in\n";
  const std::vector<std::vector<std::string>> tries = {{"submit", "matmul:m=32,n=32,k=32"},
                                                       {"jobs"},
                                                       {"jobs", "show", "mine"},
                                                       {"jobs", "watch"},
                                                       {"jobs", "pause", "mine"},
                                                       {"jobs", "stop", "mine"},
                                                       {"jobs", "cancel", "mine"},
                                                       {"jobs", "fetch", "mine"},
                                                       {"scheduler", "token"},
                                                       {"worker"}};
  for (const std::vector<std::string>& words : tries) {
    const test::ProcessResult result = other(words);
    EXPECT_EQ(result.status, 1) << words[0];
    EXPECT_EQ(result.errors, refusal) << words[0];
    EXPECT_EQ(result.output, "");
  }
  EXPECT_EQ(state_of_mine(), "queued");
}

TEST_F(SecondUser, CannotServeThere) {
  const test::ProcessResult result = other({"scheduler"});
  EXPECT_EQ(result.status, 1);
  EXPECT_EQ(result.errors.substr(0, result.errors.find('\n')),
            "attune: error: cannot open folder '" + state_ + "': Permission denied");
}

TEST_F(SecondUser, SeesNothingOfTheState) {
  for (const auto& entry : fs::recursive_directory_iterator(state_)) {
    struct stat status = {};
    ASSERT_EQ(::lstat(entry.path().c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 07777, entry.is_directory() ? 0700u : 0600u) << entry.path();
    EXPECT_EQ(test::act_as_nobody([&] {
                return ::open(entry.path().c_str(), O_RDONLY) < 0 ? "refused" : "opened";
              }),
              "refused")
        << entry.path();
  }
  EXPECT_EQ(test::act_as_nobody([&] {
              return fmt::format("{}", wire::connect_to_path(wire::socket_path(state_)).error);
            }),
            fmt::format("{}", EACCES));
  EXPECT_EQ(test::act_as_nobody(
                [&] { return ::open(state_.c_str(), O_RDONLY) < 0 ? "refused" : "opened"; }),
            "refused");
}

// What a scheduler makes while it works: logs of its workers, folders of jobs and what lies in
// them, uploads.
TEST_F(SecondUser, SeesNothingOfWhatWorkersMake) {
  ASSERT_EQ(own({"jobs", "cancel", "mine"}).status, 0);
  TearDown();
  scheduler_.reset();
  start({"--share", test::kNobodysGroup}, "1");
  EXPECT_EQ(test::act_as_nobody([&]() -> std::string {
              const Result<wire::Line> line = wire::open_line(state_);
              if (!line.ok()) return line.error().message;
              return test::upload(*v1::Scheduler::NewStub(line->channel), {"a/b.npy", "c"});
            }).substr(0, 6),
            "65534-");
  ASSERT_EQ(own({"submit", "matmul:m=32,n=32,k=32", "--trials", "2", "--wait"}).status, 0);
  std::set<std::string> seen;
  for (const auto& entry : fs::recursive_directory_iterator(state_)) {
    struct stat status = {};
    ASSERT_EQ(::lstat(entry.path().c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 07777, entry.is_directory() ? 0700u : 0600u) << entry.path();
    seen.insert(entry.path().lexically_relative(state_).begin()->string());
  }
  for (const char* name : {"jobs", "uploads", "worker-0.log", "scheduler.db"}) {
    EXPECT_TRUE(seen.contains(name)) << name;
  }
}

TEST_F(SecondUser, FindsAStateOfAnEarlierProgramClosed) {
  TearDown();
  scheduler_.reset();
  for (const auto& entry : fs::recursive_directory_iterator(state_)) {
    ASSERT_EQ(::chmod(entry.path().c_str(), entry.is_directory() ? 0755 : 0644), 0);
  }
  ASSERT_EQ(::chmod(state_.c_str(), 0755), 0);
  start({});
  for (const auto& entry : fs::recursive_directory_iterator(state_)) {
    struct stat status = {};
    ASSERT_EQ(::lstat(entry.path().c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 07777, entry.is_directory() ? 0700u : 0600u) << entry.path();
  }
  EXPECT_EQ(state_of_mine(), "queued");
}

// After kill -9 the address is still there: nobody else can take it, and nobody is spoken to.
TEST_F(SecondUser, CannotTakeTheAddressOfOneThatWasKilled) {
  scheduler_->send_signal(SIGKILL);
  (void)scheduler_->finish();
  scheduler_.reset();
  EXPECT_TRUE(fs::exists(wire::socket_path(state_)));
  EXPECT_EQ(test::act_as_nobody([&] {
              return wire::listen_at_path(wire::socket_path(state_), 0666).ok() ? "it listens"
                                                                                : "refused";
            }),
            "refused");
  EXPECT_EQ(wire::open_line(state_).error().message, "no scheduler has served " + state_ + " yet");
  const test::ProcessResult result = other({"submit", "matmul:m=32,n=32,k=32"});
  EXPECT_EQ(result.status, 1);
  EXPECT_EQ(result.errors.substr(0, result.errors.find('\n')),
            "attune: error: the scheduler of " + state_ + " is root's and is not shared with you");
}

// A folder that the other user made, with something that listens in it.
TEST_F(SecondUser, IsNotSpokenToInPlaceOfAScheduler) {
  const std::string trap = directory_.file("trap");
  fs::create_directory(trap);
  ASSERT_EQ(::chown(trap.c_str(), test::kNobody, test::kNobody), 0);
  ASSERT_EQ(::chmod(trap.c_str(), 0755), 0);
  ASSERT_EQ(test::act_as_nobody([&] {
              return wire::listen_at_path(wire::socket_path(trap), 0666).ok() ? "it listens" : "";
            }),
            "it listens");
  const test::ProcessResult result =
      test::run_process({test::attune_program(), "submit", "mlp", "--state", trap}, environment());
  EXPECT_EQ(result.status, 1);
  EXPECT_EQ(result.errors.substr(0, result.errors.find('\n')),
            "attune: error: the scheduler of " + trap + " is nobody's and is not shared with you");
}

}  // namespace
}  // namespace attune
