#include "tests/support/half_calls.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <utility>

namespace attune::test {
namespace {

constexpr char kData = 0, kHeaders = 1, kReset = 3, kSettings = 4, kPing = 6, kWindow = 8;
constexpr char kAck = 1, kEndOfHeaders = 4;
constexpr std::size_t kHead = 9, kMostOfAFrame = 16'384;

std::uint32_t number_at(const std::string& bytes, std::size_t at) {
  std::uint32_t number = 0;
  for (std::size_t i = at; i < at + 4; ++i) number = number << 8 | std::uint8_t(bytes[i]);
  return number;
}

std::string in_bytes(std::uint64_t number, int count) {
  std::string bytes;
  while (count-- > 0) bytes += static_cast<char>(number >> (8 * count));
  return bytes;
}

// Said in full, of less than 127 bytes each (RFC 7541, 6.2.2).
std::string header(const std::string& name, const std::string& value) {
  return in_bytes(0, 1) + in_bytes(name.size(), 1) + name + in_bytes(value.size(), 1) + value;
}

}  // namespace

HalfCalls::HalfCalls(wire::Descriptor connection) : connection_(std::move(connection)) {
  ::fcntl(connection_.number(), F_SETFL, O_NONBLOCK);
  out_ = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
  put(kSettings, 0, 0, "");
  window_[0] = first_window_;
}

void HalfCalls::put(char kind, char flags, std::uint32_t stream, const std::string& body) {
  out_ += in_bytes(body.size(), 3) + kind + flags + in_bytes(stream, 4) + body;
}

void HalfCalls::begin(const std::string& method, std::size_t bytes) {
  const auto stream = static_cast<std::uint32_t>(2 * left_.size() + 1);
  put(kHeaders, kEndOfHeaders, stream,
      header(":method", "POST") + header(":scheme", "http") + header(":path", method) +
          header(":authority", "x") + header("te", "trailers") +
          header("content-type", "application/grpc"));
  put(kData, 0, stream, in_bytes(0, 1) + in_bytes(bytes, 4));
  left_[stream] = bytes - 1;
  window_[stream] = first_window_ - 5;
  window_[0] -= 5;
}

void HalfCalls::send_what_fits() {
  for (auto& [stream, left] : left_) {
    while (out_.size() < kMostOfAFrame) {
      const std::int64_t window = std::min(window_[0], window_[stream]);
      const auto most = std::min(left, kMostOfAFrame);
      if (most == 0 || window <= 0) break;
      const std::size_t some = std::min(most, static_cast<std::size_t>(window));
      put(kData, 0, stream, std::string(some, 'x'));
      left -= some;
      sent_ += some;
      window_[0] -= static_cast<std::int64_t>(some);
      window_[stream] -= static_cast<std::int64_t>(some);
    }
  }
  const ssize_t went = ::send(connection_.number(), out_.data(), out_.size(), MSG_NOSIGNAL);
  if (went > 0) out_.erase(0, static_cast<std::size_t>(went));
}

void HalfCalls::hear() {
  char bytes[65'536];
  const ssize_t size = ::recv(connection_.number(), bytes, sizeof bytes, 0);
  gone_ = size == 0 || (size < 0 && errno != EAGAIN);
  if (size > 0) in_.append(bytes, static_cast<std::size_t>(size));
  while (in_.size() >= kHead) {
    const std::size_t body = number_at(std::string(1, '\0') + in_.substr(0, 3), 0);
    if (in_.size() < kHead + body) return;
    take(in_[3], in_[4], number_at(in_, 5), in_.substr(kHead, body));
    in_.erase(0, kHead + body);
  }
}

void HalfCalls::take(char kind, char flags, std::uint32_t stream, const std::string& body) {
  if (kind == kWindow) window_[stream] += number_at(body, 0);
  if (kind == kReset) left_[stream] = 0;
  if (kind == kPing && (flags & kAck) == 0) put(kPing, kAck, 0, body);
  if (kind != kSettings || (flags & kAck) != 0) return;
  constexpr std::size_t kOfOne = 6;
  constexpr std::uint32_t kInitialWindow = 4;
  for (std::size_t at = 0; at + kOfOne <= body.size(); at += kOfOne) {
    if (number_at(body, at) >> 16 != kInitialWindow) continue;
    const std::int64_t now = number_at(body, at + 2), change = now - first_window_;
    first_window_ = now;
    for (auto& [each, window] : window_) window += each == 0 ? 0 : change;
  }
  put(kSettings, kAck, 0, "");
}

void HalfCalls::send_all(int patience_ms) {
  const auto has_more = [](const auto& each) { return each.second > 0; };
  while (!gone_ && std::any_of(left_.begin(), left_.end(), has_more)) {
    send_what_fits();
    const std::int64_t window = window_[0];
    const bool fits = window > 0 && std::any_of(left_.begin(), left_.end(), [&](const auto& each) {
                        return each.second > 0 && window_[each.first] > 0;
                      });
    const bool speaks = fits || !out_.empty();
    pollfd line{connection_.number(), static_cast<short>(POLLIN | (speaks ? POLLOUT : 0)), 0};
    if (::poll(&line, 1, patience_ms) <= 0) return;
    if ((line.revents & (POLLIN | POLLHUP)) != 0) hear();
  }
}

}  // namespace attune::test
