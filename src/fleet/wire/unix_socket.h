// Unix sockets by their paths, of any length, and who is at the other end of one: the kernel says
// so, whatever the other end claims.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "base/result.h"

namespace attune::wire {

// A file descriptor that is closed with the object.
class Descriptor {
 public:
  explicit Descriptor(int number = -1) : number_(number) {}
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  ~Descriptor();

  int number() const { return number_; }
  bool is_open() const { return number_ >= 0; }
  int release() { return std::exchange(number_, -1); }

 private:
  int number_;
};

// Who opened the other end: of an accepted connection the one that connected, of a connection that
// was made the one that listens.
struct Peer {
  std::uint32_t uid = 0;
  std::int64_t pid = 0;
};
std::optional<Peer> peer_of(int socket);
std::optional<std::uint32_t> uid_of(int socket);

// A connection to who listens there; else the number of the error. One whose queue is full is
// waited for, a second at most.
struct Connecting {
  Descriptor socket;
  int error = 0;
};
Connecting connect_to_path(const std::string& path);

// Listens at the path, which appears with these rights, in place of whatever socket was there.
Result<Descriptor> listen_at_path(const std::string& path, mode_t mode,
                                  std::optional<gid_t> group = {});

}  // namespace attune::wire
