#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>

#include "base/temporary_directory_testing.h"
#include "fleet/wire/channel.h"
#include "fleet/wire/secret.h"
#include "fleet/wire/state_directory.h"
#include "fleet/wire/status.h"
#include "fleet/wire/unix_socket.h"

namespace attune::wire {
namespace {

TEST(StateDirectory, FollowsTheXdgRules) {
  EXPECT_EQ(*default_state_directory("/data", "/home/me"), "/data/attune/scheduler");
  EXPECT_EQ(*default_state_directory(nullptr, "/home/me"),
            "/home/me/.local/share/attune/scheduler");
  EXPECT_EQ(*default_state_directory("relative", "/home/me"),
            "/home/me/.local/share/attune/scheduler");
  const auto nowhere = default_state_directory(nullptr, "");
  ASSERT_FALSE(nowhere.ok());
  EXPECT_EQ(nowhere.error().message,
            "no place for the scheduler's state: neither HOME nor XDG_DATA_HOME is set");
  EXPECT_EQ(nowhere.error().hint, "name a folder with --state DIR");
}

TEST(StateDirectory, IsAbsoluteWithoutATrailingSlash) {
  const std::string here = std::filesystem::current_path().string();
  EXPECT_EQ(*state_directory("some/../state/"), here + "/state");
  EXPECT_EQ(*state_directory("/tmp/x"), "/tmp/x");
}

TEST(StateDirectory, IsSharedBesideIt) {
  EXPECT_EQ(shared_directory("/srv/attune/state"), "/srv/attune/state.shared");
  EXPECT_EQ(socket_path(shared_directory("/srv/attune/state")), "/srv/attune/state.shared/socket");
}

unsigned mode_of(const std::string& path) {
  struct stat status = {};
  EXPECT_EQ(::lstat(path.c_str(), &status), 0) << path;
  return status.st_mode & 07777;
}

TEST(UnixSocket, IsListenedAtAndKnowsWhoConnects) {
  const test::TemporaryDirectory folder;
  // Longer than an address may be.
  const std::string deep = folder.file(std::string(60, 'a') + "/" + std::string(60, 'b'));
  std::filesystem::create_directories(deep);
  for (const std::string& place : {folder.path().string(), deep}) {
    const std::string path = place + "/socket";
    EXPECT_EQ(connect_to_path(path).error, ENOENT);
    {
      const auto listening = listen_at_path(path, 0600);
      ASSERT_TRUE(listening.ok()) << listening.error().message;
      EXPECT_EQ(mode_of(path), 0600u);
      const Connecting connected = connect_to_path(path);
      ASSERT_EQ(connected.error, 0);
      const Descriptor accepted(::accept(listening->number(), nullptr, nullptr));
      const auto peer = peer_of(accepted.number());
      ASSERT_TRUE(peer.has_value());
      EXPECT_EQ(peer->uid, ::geteuid());
      EXPECT_EQ(peer->pid, ::getpid());
      EXPECT_EQ(peer_of(connected.socket.number())->uid, ::geteuid());
    }
    EXPECT_EQ(connect_to_path(path).error, ECONNREFUSED) << "who listened is gone";
    EXPECT_TRUE(listen_at_path(path, 0600).ok()) << "what was left is replaced";
  }
}

TEST(Channel, NobodyThereIsCertain) {
  const test::TemporaryDirectory folder;
  const auto message = [](const std::string& state) {
    const auto line = open_line(state);
    EXPECT_FALSE(line.ok());
    EXPECT_EQ(line.error().code, ErrorCode::NotFound);
    return line.error().message;
  };
  EXPECT_EQ(message("/nowhere/at/all"), "no scheduler has served /nowhere/at/all yet");
  const std::string state = folder.path();
  EXPECT_EQ(message(state), "no scheduler has served " + state + " yet");
  { ASSERT_TRUE(listen_at_path(socket_path(state), 0600).ok()); }
  EXPECT_EQ(message(state), "no scheduler has served " + state + " yet") << "it was killed";
  EXPECT_FALSE(is_served(state));
  const auto listening = listen_at_path(socket_path(state), 0600);
  EXPECT_TRUE(is_served(state)) << "it is only slow to answer";
  EXPECT_EQ(open_line(state)->uid, ::geteuid());
}

TEST(Channel, WhatOthersMayHavePutThereIsNotSpokenTo) {
  const test::TemporaryDirectory folder;
  const std::string state = folder.file("state");
  std::filesystem::create_directory(state);
  const auto listening = listen_at_path(socket_path(state), 0600);
  ASSERT_TRUE(listening.ok());
  const auto refusal = [&] {
    const auto line = open_line(state);
    return line.ok() ? "" : line.error().message;
  };
  ASSERT_EQ(::chmod(state.c_str(), 0770), 0);
  EXPECT_EQ(refusal(),
            "others may write to '" + state + "', so that its scheduler cannot be trusted");
  ASSERT_EQ(::chmod(state.c_str(), 0700), 0);
  EXPECT_EQ(refusal(), "");
  ASSERT_EQ(::chmod(folder.path().c_str(), 0777), 0);
  EXPECT_EQ(refusal(), "everybody may write to '" + folder.path().string() + "', so that '" +
                           state + "' cannot be trusted");
  ASSERT_EQ(::chmod(folder.path().c_str(), 0700), 0);
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give files to another user";
  ASSERT_EQ(::lchown(socket_path(state).c_str(), 65534, 65534), 0);
  EXPECT_EQ(refusal(),
            "'" + socket_path(state) + "' is nobody's, but the scheduler is " + "root's");
  ASSERT_EQ(::chown(state.c_str(), 65534, 65534), 0);
  EXPECT_EQ(refusal(), "the scheduler of " + state + " is nobody's and is not shared with you");
  std::filesystem::create_directory(shared_directory(state));
  EXPECT_EQ(refusal(),
            "'" + shared_directory(state) + "' is root's, but the scheduler is nobody's");
  // Its folder and its socket are that user's, but another listens.
  const auto shared = listen_at_path(socket_path(shared_directory(state)), 0666);
  ASSERT_EQ(::chown(shared_directory(state).c_str(), 65534, 65534), 0);
  ASSERT_EQ(::lchown(socket_path(shared_directory(state)).c_str(), 65534, 65534), 0);
  EXPECT_EQ(refusal(), "'" + socket_path(shared_directory(state)) +
                           "' is served by root, but the scheduler is nobody's");
}

TEST(Secrets, AreNeverTheSame) {
  EXPECT_EQ(random_secret().size(), 64u);
  EXPECT_NE(random_secret(), random_secret());
}

TEST(WireStatus, ErrorsArriveAsTheyWere) {
  for (const ErrorCode code :
       {ErrorCode::InvalidArgument, ErrorCode::Unsupported, ErrorCode::NotFound, ErrorCode::Io,
        ErrorCode::Corrupt, ErrorCode::Exhausted}) {
    const Error back = from_status(to_status({code, "what is wrong", "what to do"}));
    EXPECT_EQ(back.code, code);
    EXPECT_EQ(back.message, "what is wrong");
    EXPECT_EQ(back.hint, "what to do");
  }
}

TEST(WireStatus, WhatGrpcSaysIsIo) {
  const Error error = from_status({grpc::StatusCode::UNAVAILABLE, "connection refused"});
  EXPECT_EQ(error.code, ErrorCode::Io);
  EXPECT_EQ(error.message, "the scheduler does not answer: connection refused");
}

}  // namespace
}  // namespace attune::wire
