#include "tuner/measure/probe/channel.h"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/clock.h"

namespace attune::probe {
namespace {

struct Wire {
  MessageKind kind;
  std::uint32_t value;
};

union Control {
  cmsghdr header;
  char bytes[CMSG_SPACE(kMostDescriptors * sizeof(int))];
};

bool send_wire(const Descriptor& channel, Wire wire, std::span<const int> descriptors, int flags) {
  iovec data{&wire, sizeof wire};
  Control control = {};
  msghdr header = {};
  header.msg_iov = &data;
  header.msg_iovlen = 1;
  if (!descriptors.empty()) {
    header.msg_control = control.bytes;
    header.msg_controllen = CMSG_SPACE(descriptors.size_bytes());
    cmsghdr* rights = CMSG_FIRSTHDR(&header);
    rights->cmsg_level = SOL_SOCKET;
    rights->cmsg_type = SCM_RIGHTS;
    rights->cmsg_len = CMSG_LEN(descriptors.size_bytes());
    std::memcpy(CMSG_DATA(rights), descriptors.data(), descriptors.size_bytes());
  }
  ssize_t sent = 0;
  do {
    sent = sendmsg(channel.number(), &header, MSG_NOSIGNAL | flags);
  } while (sent < 0 && errno == EINTR);
  return sent == static_cast<ssize_t>(sizeof wire);
}

}  // namespace

Descriptor::~Descriptor() {
  if (number_ >= 0) close(number_);
}

Result<std::pair<Descriptor, Descriptor>> make_channel() {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) {
    return Error{ErrorCode::Io, std::string("cannot create a socket pair: ") + std::strerror(errno),
                 "raise the limit of open files (ulimit -n)"};
  }
  return std::pair<Descriptor, Descriptor>(Descriptor(ends[0]), Descriptor(ends[1]));
}

bool send(const Descriptor& channel, MessageKind kind, std::uint32_t value,
          std::span<const int> descriptors) {
  return send_wire(channel, {kind, value}, descriptors, 0);
}

void send_in_passing(const Descriptor& channel, MessageKind kind) {
  (void)send_wire(channel, {kind, 0}, {}, MSG_DONTWAIT);
}

std::optional<Message> receive(const Descriptor& channel) {
  Wire wire{};
  iovec data{&wire, sizeof wire};
  Control control = {};
  msghdr header = {};
  header.msg_iov = &data;
  header.msg_iovlen = 1;
  header.msg_control = control.bytes;
  header.msg_controllen = sizeof control.bytes;
  ssize_t received = 0;
  do {
    received = recvmsg(channel.number(), &header, MSG_CMSG_CLOEXEC);
  } while (received < 0 && errno == EINTR);
  if (received < 0) return std::nullopt;
  Message message{.kind = wire.kind, .value = wire.value};
  const cmsghdr* rights = CMSG_FIRSTHDR(&header);
  if (rights != nullptr && rights->cmsg_type == SCM_RIGHTS) {
    int numbers[kMostDescriptors];
    const std::size_t bytes = std::min(rights->cmsg_len - CMSG_LEN(0), sizeof numbers);
    std::memcpy(numbers, CMSG_DATA(rights), bytes);
    for (std::size_t i = 0; i < bytes / sizeof(int); ++i) {
      message.descriptors[i] = Descriptor(numbers[i]);
    }
  }
  const bool is_whole = (header.msg_flags & MSG_TRUNC) == 0;
  if (received != static_cast<ssize_t>(sizeof wire) || !is_whole) return std::nullopt;
  return message;
}

bool is_readable(const Descriptor& channel, double milliseconds) {
  const SteadyClock clock;
  const std::int64_t start = clock.now_ns();
  for (;;) {
    const double left = milliseconds - seconds_between(start, clock.now_ns()) * 1e3;
    pollfd watched = {channel.number(), POLLIN, 0};
    const int ready = poll(&watched, 1, static_cast<int>(std::clamp(left, 0.0, 1e6)));
    if (ready > 0) return true;
    if (left <= 0) return false;
  }
}

}  // namespace attune::probe
