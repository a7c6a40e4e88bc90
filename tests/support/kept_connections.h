// Connections to a scheduler that are kept open, and what they hear first: that they are sent away,
// or nothing.
#pragma once

#include <fmt/format.h>
#include <sys/socket.h>

#include <chrono>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "fleet/wire/unix_socket.h"

namespace attune::test {

class KeptConnections {
 public:
  explicit KeptConnections(std::string socket) : socket_(std::move(socket)) {}

  // Empty: it is served.
  std::string open() {
    wire::Connecting made = wire::connect_to_path(socket_);
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
  // Again and again, for so long that it is not for doing it too often that nothing comes of it.
  std::string insist() {
    std::string last = "never tried";
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(2);
    while (!last.empty() && std::chrono::steady_clock::now() < end) last = open();
    return last;
  }
  void close_one() { open_.pop_back(); }

 private:
  const std::string socket_;
  std::vector<wire::Descriptor> open_;
};

}  // namespace attune::test
