// Users who connect to a server that is shared, more of them than there are on this machine.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <string>
#include <vector>

#include "base/temporary_directory_testing.h"
#include "fleet/jobs/book/user_limits.h"
#include "fleet/server/server_testing.h"
#include "fleet/wire/unix_socket.h"

namespace attune::server {
namespace {

constexpr std::uint32_t kFirst = 100'000, kStranger = 200'123;

class ManyUsers : public ::testing::Test {
 protected:
  void SetUp() override {
    ServerOptions with = sample_options(folder_.file("state"));
    with.share = ::getegid();
    with.around.uid_of = [this](int) { return std::optional<std::uint32_t>(uid_.load()); };
    with.around.is_known_user = [](std::uint32_t uid) { return uid != kStranger; };
    auto server = Server::start(std::move(with));
    ASSERT_TRUE(server.ok()) << server.error().message;
    server_ = std::move(*server);
  }

  // Empty: they are served, and stay.
  std::string connect(std::uint32_t uid) {
    uid_ = uid;
    wire::Connecting made =
        wire::connect_to_path(wire::socket_path(wire::shared_directory(folder_.file("state"))));
    if (made.error != 0) return fmt::format("cannot connect: {}", made.error);
    char bytes[512];
    const ssize_t size = ::recv(made.socket.number(), bytes, sizeof bytes, 0);
    const std::string said(bytes, size > 0 ? static_cast<std::size_t>(size) : 0);
    constexpr std::size_t kBeforeWords = 9 + 9 + 8;  // two frames of HTTP/2
    const bool is_farewell = said.size() > kBeforeWords && said[2] == 0 && said[9 + 3] == 7;
    if (is_farewell) return said.substr(kBeforeWords);
    open_.push_back(std::move(made.socket));
    return said.empty() ? "nothing at all" : "";
  }

  test::TemporaryDirectory folder_;
  std::atomic<std::uint32_t> uid_ = 0;
  std::unique_ptr<Server> server_;
  std::vector<wire::Descriptor> open_;
};

// As users of a container somebody may be as many as they like.
TEST_F(ManyUsers, ThatThisMachineDoesNotKnowAreSentAway) {
  EXPECT_EQ(connect(kStranger), "user 200123 is not known on this machine");
  EXPECT_EQ(connect(kFirst), "");
}

// The last one is told why, and comes in when another has gone.
TEST_F(ManyUsers, LeaveTheirPlacesToOthers) {
  for (std::uint32_t i = 0; i < jobs::kUsersAtOnce; ++i) ASSERT_EQ(connect(kFirst + i), "");
  const std::uint32_t late = kFirst - 1;
  EXPECT_EQ(connect(late), "256 users are connected to this scheduler, which takes no more");
  EXPECT_EQ(connect(::geteuid()), "") << "it is its own scheduler";
  open_.erase(open_.begin());
  std::string said = "never tried";
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (!said.empty() && std::chrono::steady_clock::now() < end) said = connect(late);
  EXPECT_EQ(said, "");
}

}  // namespace
}  // namespace attune::server
