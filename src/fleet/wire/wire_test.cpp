#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <fstream>

#include "base/temporary_directory_testing.h"
#include "fleet/wire/channel.h"
#include "fleet/wire/state_directory.h"
#include "fleet/wire/status.h"

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

TEST(StateDirectory, TellsWhenNobodyServed) {
  const auto address = read_address("/nowhere/at/all");
  ASSERT_FALSE(address.ok());
  EXPECT_EQ(address.error().message, "no scheduler has served /nowhere/at/all yet");
}

TEST(StateDirectory, ReadsTheAddress) {
  const test::TemporaryDirectory folder;
  std::ofstream(address_path(folder.path())) << "127.0.0.1:4711\n";
  EXPECT_EQ(*read_address(folder.path()), "127.0.0.1:4711");
}

TEST(Channel, KnowsWhetherAnybodyListens) {
  const int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = ::htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  ASSERT_EQ(::bind(socket, reinterpret_cast<sockaddr*>(&address), size), 0);
  ASSERT_EQ(::getsockname(socket, reinterpret_cast<sockaddr*>(&address), &size), 0);
  const std::string text = "127.0.0.1:" + std::to_string(::ntohs(address.sin_port));
  EXPECT_TRUE(nobody_listens(text));
  ASSERT_EQ(::listen(socket, 1), 0);
  EXPECT_FALSE(nobody_listens(text)) << "it is only slow to answer";
  ::close(socket);
  EXPECT_FALSE(nobody_listens("elsewhere")) << "that is not known";
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
