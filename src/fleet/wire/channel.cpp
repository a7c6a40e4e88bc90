#include "fleet/wire/channel.h"

#include <arpa/inet.h>
#include <grpcpp/create_channel.h>
#include <grpcpp/security/credentials.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <optional>

namespace attune::wire {

std::shared_ptr<grpc::Channel> open_channel(const std::string& address) {
  constexpr int kLargestMessage = 256 << 20;  // a list of many jobs with their reports
  grpc::ChannelArguments arguments;
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  // Messages are small and far apart: there is no bandwidth to find out about by pings.
  arguments.SetInt(GRPC_ARG_HTTP2_BDP_PROBE, 0);
  arguments.SetMaxReceiveMessageSize(kLargestMessage);
  return grpc::CreateCustomChannel(address, grpc::InsecureChannelCredentials(), arguments);
}

namespace {

// "127.0.0.1:4000".
std::optional<sockaddr_in> parse_address(const std::string& text) {
  const auto colon = text.rfind(':');
  if (colon == std::string::npos) return std::nullopt;
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  std::uint16_t port = 0;
  const char* end = text.data() + text.size();
  const auto [last, error] = std::from_chars(text.data() + colon + 1, end, port);
  if (error != std::errc() || last != end) return std::nullopt;
  address.sin_port = ::htons(port);
  if (::inet_pton(AF_INET, text.substr(0, colon).c_str(), &address.sin_addr) != 1) {
    return std::nullopt;
  }
  return address;
}

}  // namespace

bool nobody_listens(const std::string& address) {
  const std::optional<sockaddr_in> there = parse_address(address);
  if (!there) return false;
  const int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (socket < 0) return false;
  const timeval longest{.tv_sec = 1, .tv_usec = 0};  // for one whose queue is full
  (void)::setsockopt(socket, SOL_SOCKET, SO_SNDTIMEO, &longest, sizeof longest);
  const int failed =
      ::connect(socket, reinterpret_cast<const sockaddr*>(&*there), sizeof *there) != 0 ? errno : 0;
  ::close(socket);
  return failed == ECONNREFUSED;
}

}  // namespace attune::wire
