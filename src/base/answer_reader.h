// Reads what a child process answered, value by value. The child may have run foreign code, so that
// nothing of it is taken for granted: what is not there reads as zero, and status() says so.
#pragma once

#include <cstring>
#include <span>
#include <string>
#include <type_traits>

#include "base/result.h"

namespace attune {

class AnswerReader {
 public:
  explicit AnswerReader(std::span<const char> bytes) : bytes_(bytes) {}

  template <typename T>
  T value() {
    static_assert(std::is_arithmetic_v<T> || std::is_enum_v<T>);
    T read = {};
    if (const std::span<const char> raw = take(sizeof(T)); !raw.empty()) {
      std::memcpy(&read, raw.data(), sizeof(T));
    }
    return read;
  }
  // How many things follow, each of so many bytes at least; none when there is no room for them.
  std::size_t count(std::size_t least_bytes) {
    const auto said = value<std::size_t>();
    if (said <= bytes_.size() / least_bytes) return said;
    too_short_ = true;
    return 0;
  }
  std::string text() {
    const std::span<const char> raw = take(count(1));
    return {raw.begin(), raw.end()};
  }
  std::span<const char> take(std::size_t bytes) {
    if (bytes > bytes_.size()) {
      too_short_ = true;
      bytes_ = {};
      return {};
    }
    const std::span<const char> taken = bytes_.first(bytes);
    bytes_ = bytes_.subspan(bytes);
    return taken;
  }

  std::span<const char> rest() const { return bytes_; }
  Status status() const {
    if (!too_short_) return {};
    return Error{ErrorCode::Io, "the answer of a child process is cut off",
                 "try another schedule, e.g. with --default"};
  }

 private:
  std::span<const char> bytes_;
  bool too_short_ = false;
};

}  // namespace attune
