// Intervals of integers, for reasoning about index arithmetic. Both ends are inclusive; an end that
// reached the limits of 64 bits stands for "unbounded", and arithmetic saturates there.
#pragma once

#include <cstdint>
#include <limits>

namespace attune::ir {

struct Interval {
  static constexpr std::int64_t kLowest = std::numeric_limits<std::int64_t>::min();
  static constexpr std::int64_t kHighest = std::numeric_limits<std::int64_t>::max();

  std::int64_t low = kLowest;
  std::int64_t high = kHighest;

  static constexpr Interval point(std::int64_t value) { return {value, value}; }
  // [0, n): the values of a loop with n iterations.
  static constexpr Interval extent(std::int64_t n) { return {0, n - 1}; }

  constexpr bool is_point() const { return low == high && low != kLowest && high != kHighest; }
  constexpr bool is_bounded() const { return low != kLowest && high != kHighest; }
  // No value at all: the place is never reached.
  constexpr bool is_empty() const { return low > high; }
  constexpr bool contains(std::int64_t value) const { return low <= value && value <= high; }

  friend bool operator==(const Interval&, const Interval&) = default;
};

Interval operator+(Interval a, Interval b);
Interval operator-(Interval a, Interval b);
Interval operator*(Interval a, Interval b);
Interval operator*(Interval a, std::int64_t factor);
Interval min(Interval a, Interval b);
Interval max(Interval a, Interval b);
Interval intersect(Interval a, Interval b);
Interval unite(Interval a, Interval b);
// Of x / divisor and x % divisor, rounding towards minus infinity, for a positive divisor.
Interval floor_div(Interval a, std::int64_t divisor);
Interval floor_mod(Interval a, std::int64_t divisor);
// The one value of x / divisor for all x in `a`, if there is only one.
bool single_quotient(Interval a, std::int64_t divisor, std::int64_t& quotient);

// Index arithmetic wraps around like the machine's; programs that make it do so have no meaning,
// but the compiler must survive them.
constexpr std::int64_t wrap_add(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
}
constexpr std::int64_t wrap_sub(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) - static_cast<std::uint64_t>(b));
}
constexpr std::int64_t wrap_mul(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b));
}

}  // namespace attune::ir
