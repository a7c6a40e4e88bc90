// Takes connections at Unix sockets, and says of each who made it. Other users who open more than
// their share of them, or open them too often, are sent away.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "fleet/server/calls/rate_limit.h"
#include "fleet/wire/unix_socket.h"

namespace attune::server {

struct ListenerOptions {
  std::optional<std::uint32_t> only = {};  // connections of other users are closed at once
  std::function<std::optional<std::uint32_t>(int connection)> uid_of = wire::uid_of;
  std::function<std::int64_t()> now_ns = [] { return SteadyClock().now_ns(); };
};

class Listener {
 public:
  // Whether a user has a connection.
  using IsConnected = std::function<bool(std::uint32_t uid)>;
  // What becomes of a connection, which is taken from the descriptor; an error is said to who made
  // it.
  using Take = std::function<Status(wire::Descriptor& socket, std::uint32_t uid,
                                    const IsConnected& is_connected)>;

  Listener(std::vector<wire::Descriptor> sockets, ListenerOptions options, Take take);
  ~Listener();  // none is taken any more
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;

 private:
  void run();
  void accept_from(int socket);
  bool has_room(std::uint32_t uid);
  bool in_time(std::uint32_t uid);
  void forget_closed();

  // A connection as the system knows it, for as long as it is open.
  struct Open {
    std::uint32_t uid = 0;
    ino_t inode = 0;
  };
  const std::vector<wire::Descriptor> sockets_;
  const ListenerOptions options_;
  const Take take_;
  const wire::Descriptor wake_;
  const std::size_t most_in_all_;
  std::map<int, Open> open_;                  // by descriptor; the thread's
  std::map<std::uint32_t, RateLimit> rates_;  // of other users; the thread's
  std::thread thread_;
};

}  // namespace attune::server
