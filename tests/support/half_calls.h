// Calls of gRPC, spoken by hand (RFC 9113), whose messages never end: all but the last byte of each
// is sent as soon as the other end takes it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>

#include "fleet/wire/unix_socket.h"

namespace attune::test {

class HalfCalls {
 public:
  explicit HalfCalls(wire::Descriptor connection);

  // A call of the method "/package.Service/Name" with a message of so many bytes.
  void begin(const std::string& method, std::size_t bytes);
  // Sends until all is sent, the other end has taken nothing for so long, or it is gone.
  void send_all(int patience_ms);
  std::size_t sent() const { return sent_; }

 private:
  void put(char kind, char flags, std::uint32_t stream, const std::string& body);
  void send_what_fits();
  void hear();
  void take(char kind, char flags, std::uint32_t stream, const std::string& body);

  wire::Descriptor connection_;
  std::string in_, out_;
  std::map<std::uint32_t, std::size_t> left_;     // to be sent, by stream
  std::map<std::uint32_t, std::int64_t> window_;  // that the other end takes; of stream 0: of all
  std::int64_t first_window_ = 65'535;
  std::size_t sent_ = 0;
  bool gone_ = false;
};

}  // namespace attune::test
