// Time as a parameter: a Clock is handed in, so that tests run on a clock of their own.
#pragma once

#include <chrono>
#include <cstdint>

namespace attune {

class Clock {
 public:
  virtual ~Clock() = default;
  // Nanoseconds from an arbitrary start, never going back.
  virtual std::int64_t now_ns() const = 0;
};

class SteadyClock final : public Clock {
 public:
  std::int64_t now_ns() const override {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(
               std::chrono::steady_clock::now().time_since_epoch())
        .count();
  }
};

inline double seconds_between(std::int64_t start_ns, std::int64_t end_ns) {
  return static_cast<double>(end_ns - start_ns) * 1e-9;
}

// Milliseconds since 1970, for records; may jump when the clock of the machine is set.
inline std::int64_t unix_time_ms() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::milliseconds>(now).count();
}

}  // namespace attune
