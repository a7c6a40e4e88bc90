#include "base/message_line.h"

#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/clock.h"

namespace attune {
namespace {

constexpr std::uint32_t kMark = 0x41747431;  // in front of every message

struct Header {
  std::uint32_t mark = kMark;
  std::uint32_t kind = 0;
  std::uint64_t bytes = 0;
};

// Whether something can be done with the line before the deadline.
bool await(int line, short what, std::int64_t deadline_ns) {
  for (;;) {
    const std::int64_t left = deadline_ns - SteadyClock().now_ns();
    if (left <= 0) return false;
    pollfd waited{line, what, 0};
    const auto most = std::int64_t{3'600'000};
    const int ready = ::poll(&waited, 1, static_cast<int>(std::min(left / 1'000'000 + 1, most)));
    if (ready > 0) return true;
    if (ready < 0 && errno != EINTR) return false;
  }
}

bool send_all(int line, const char* data, std::size_t bytes, std::int64_t deadline_ns) {
  while (bytes > 0) {
    const ssize_t sent = ::send(line, data, bytes, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent > 0) {
      data += sent;
      bytes -= static_cast<std::size_t>(sent);
    } else if (sent < 0 && errno != EAGAIN && errno != EINTR) {
      return false;
    } else if (!await(line, POLLOUT, deadline_ns)) {
      return false;
    }
  }
  return true;
}

Heard receive_all(int line, char* data, std::size_t bytes, std::int64_t deadline_ns) {
  while (bytes > 0) {
    const ssize_t got = ::recv(line, data, bytes, MSG_DONTWAIT);
    if (got > 0) {
      data += got;
      bytes -= static_cast<std::size_t>(got);
    } else if (got == 0 || (errno != EAGAIN && errno != EINTR)) {
      return Heard::Gone;
    } else if (!await(line, POLLIN, deadline_ns)) {
      return Heard::Late;
    }
  }
  return Heard::Message;
}

}  // namespace

bool send_message(int line, const LineMessage& message, std::int64_t deadline_ns) {
  const Header header{.kind = message.kind, .bytes = message.bytes.size()};
  char raw[sizeof header];
  std::memcpy(raw, &header, sizeof header);
  return send_all(line, raw, sizeof raw, deadline_ns) &&
         send_all(line, message.bytes.data(), message.bytes.size(), deadline_ns);
}

Heard receive_message(int line, LineMessage& message, std::int64_t deadline_ns) {
  char raw[sizeof(Header)];
  Heard heard = receive_all(line, raw, sizeof raw, deadline_ns);
  if (heard != Heard::Message) return heard;
  Header header;
  std::memcpy(&header, raw, sizeof header);
  if (header.mark != kMark || header.bytes > kMostMessageBytes) return Heard::Gone;
  message.kind = header.kind;
  message.bytes.resize(header.bytes);
  return receive_all(line, message.bytes.data(), message.bytes.size(), deadline_ns);
}

}  // namespace attune
