#include "fleet/server/listener.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <mutex>
#include <string>
#include <vector>

#include "base/temporary_directory_testing.h"
#include "fleet/jobs/book/user_limits.h"

namespace attune::server {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;
constexpr const char* kTooMany = "this user connects too often, or has too many connections";

// A listener to whom connections are of whichever user the test says, at a time that it says.
class ListenerTest : public ::testing::Test {
 protected:
  ListenerTest() {
    auto socket = wire::listen_at_path(path_, 0600);
    std::vector<wire::Descriptor> sockets;
    sockets.push_back(std::move(*socket));
    listener_.emplace(
        std::move(sockets),
        ListenerOptions{.uid_of = [this](int) { return std::optional<std::uint32_t>(uid_.load()); },
                        .now_ns = [this] { return now_ns_.load(); }},
        [this](wire::Descriptor& made, std::uint32_t uid,
               const Listener::IsConnected& is_connected) {
          return take(made, uid, is_connected);
        });
  }

  // What somebody who connects is told first. They stay connected until the test is over.
  std::string connect(std::uint32_t uid) {
    uid_ = uid;
    wire::Connecting made = wire::connect_to_path(path_);
    if (made.error != 0) return "cannot connect";
    char bytes[512];
    const ssize_t size = ::recv(made.socket.number(), bytes, sizeof bytes, 0);
    const std::string said(bytes, size > 0 ? static_cast<std::size_t>(size) : 0);
    clients_.push_back(std::move(made.socket));
    constexpr std::size_t kBeforeWords = 9 + 9 + 8;  // two frames of HTTP/2
    return said.size() > kBeforeWords ? said.substr(kBeforeWords) : said;
  }
  // As many as one user may have.
  void fill(std::uint32_t uid) {
    for (std::size_t i = 0; i < jobs::kConnectionsOfAUser; ++i) ASSERT_EQ(connect(uid), "taken");
    now_ns_ += 10 * kSecond;  // so that it is not because of how often
    ASSERT_EQ(connect(uid), kTooMany);
  }
  int last_taken() {
    const std::lock_guard lock(mutex_);
    return taken_.back();
  }

  Status take(wire::Descriptor& made, std::uint32_t uid, const Listener::IsConnected& is_there) {
    const std::lock_guard lock(mutex_);
    is_connected_ = is_there(asked_);
    if (uid == refused_) return Error{ErrorCode::Exhausted, "no more of them", {}};
    (void)!::send(made.number(), "taken", 5, MSG_NOSIGNAL);
    taken_.push_back(made.release());
    if (closes_) ::close(taken_.back());
    return {};
  }

  void TearDown() override {
    listener_.reset();
    for (const int each : taken_) ::close(each);
  }

  test::TemporaryDirectory folder_;
  const std::string path_ = folder_.file("socket");
  std::atomic<std::uint32_t> uid_ = 0;
  std::atomic<std::int64_t> now_ns_ = kSecond;
  std::mutex mutex_;
  std::vector<int> taken_;
  std::vector<wire::Descriptor> clients_;
  std::uint32_t refused_ = 0, asked_ = 0;
  bool closes_ = false, is_connected_ = false;
  std::optional<Listener> listener_;
};

constexpr std::uint32_t kAnn = 1'000'007, kBob = 1'000'008;

TEST_F(ListenerTest, ConnectionsThatWereClosedMakeRoom) {
  fill(kAnn);
  EXPECT_EQ(connect(kBob), "taken");
  ::close(taken_.front());
  taken_.erase(taken_.begin());
  EXPECT_EQ(connect(kAnn), "taken");
  EXPECT_EQ(connect(kAnn), kTooMany);
}

TEST_F(ListenerTest, ADescriptorThatStandsForSomethingElseIsNotTheOldConnection) {
  fill(kAnn);
  const int other = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  ASSERT_EQ(::dup3(other, taken_.front(), O_CLOEXEC), taken_.front());
  EXPECT_EQ(connect(kAnn), "taken");
  EXPECT_EQ(connect(kAnn), kTooMany);
  ::close(other);
}

TEST_F(ListenerTest, OneThatWasRefusedIsForgotten) {
  refused_ = asked_ = kAnn;
  EXPECT_EQ(connect(kAnn), "no more of them");
  EXPECT_TRUE(is_connected_) << "while it was asked what becomes of it";
  EXPECT_EQ(connect(kBob), "taken");
  EXPECT_FALSE(is_connected_);
}

// Who has used up how often they may connect does not get it back by sending others.
TEST_F(ListenerTest, ManyUsersPushOutOnlyThoseWhoMayConnectAsOftenAsAnybody) {
  closes_ = true;
  for (double i = 0; i < jobs::kConnectionRate.at_once; ++i) ASSERT_EQ(connect(kAnn), "taken");
  ASSERT_EQ(connect(kAnn), kTooMany);
  for (std::uint32_t i = 1; i < jobs::kUsersAtOnce; ++i) ASSERT_EQ(connect(kBob + i), "taken");
  now_ns_ += kSecond / 16;  // four more for ann; all others are as good as new
  EXPECT_EQ(connect(kBob), "taken");
  for (int i = 0; i < 4; ++i) EXPECT_EQ(connect(kAnn), "taken");
  EXPECT_EQ(connect(kAnn), kTooMany);
  taken_.clear();  // they are closed
}

TEST_F(ListenerTest, WhoMayNotConnectAtAllHearsNothing) {
  listener_.reset();
  auto socket = wire::listen_at_path(path_, 0600);
  std::vector<wire::Descriptor> sockets;
  sockets.push_back(std::move(*socket));
  listener_.emplace(
      std::move(sockets),
      ListenerOptions{.only = kAnn,
                      .uid_of = [this](int) { return std::optional<std::uint32_t>(uid_.load()); }},
      [this](wire::Descriptor& made, std::uint32_t uid, const Listener::IsConnected& is_connected) {
        return take(made, uid, is_connected);
      });
  EXPECT_EQ(connect(kBob), "");
  EXPECT_EQ(connect(kAnn), "taken");
}

}  // namespace
}  // namespace attune::server
