#include "compiler/ir/simplify/interval.h"

#include <algorithm>

#include "compiler/ir/nodes/expr.h"

namespace attune::ir {
namespace {

constexpr std::int64_t kLowest = Interval::kLowest;
constexpr std::int64_t kHighest = Interval::kHighest;

bool unbounded(std::int64_t end) { return end == kLowest || end == kHighest; }

// Sum of two ends of the same side.
std::int64_t add_ends(std::int64_t a, std::int64_t b) {
  if (unbounded(a)) return a;
  if (unbounded(b)) return b;
  std::int64_t sum = 0;
  if (__builtin_add_overflow(a, b, &sum)) return a < 0 ? kLowest : kHighest;
  return sum;
}

std::int64_t negate_end(std::int64_t a) {
  if (a == kLowest) return kHighest;
  if (a == kHighest) return kLowest;
  return -a;
}

std::int64_t multiply_ends(std::int64_t a, std::int64_t b) {
  if (a == 0 || b == 0) return 0;
  const std::int64_t limit = (a < 0) == (b < 0) ? kHighest : kLowest;
  std::int64_t product = 0;
  if (unbounded(a) || unbounded(b) || __builtin_mul_overflow(a, b, &product)) return limit;
  return product;
}

}  // namespace

Interval operator+(Interval a, Interval b) {
  return {add_ends(a.low, b.low), add_ends(a.high, b.high)};
}

Interval operator-(Interval a, Interval b) {
  return {add_ends(a.low, negate_end(b.high)), add_ends(a.high, negate_end(b.low))};
}

Interval operator*(Interval a, Interval b) {
  const std::int64_t p = multiply_ends(a.low, b.low), q = multiply_ends(a.low, b.high);
  const std::int64_t r = multiply_ends(a.high, b.low), s = multiply_ends(a.high, b.high);
  return {std::min({p, q, r, s}), std::max({p, q, r, s})};
}

Interval operator*(Interval a, std::int64_t factor) {
  const std::int64_t p = multiply_ends(a.low, factor), q = multiply_ends(a.high, factor);
  return factor < 0 ? Interval{q, p} : Interval{p, q};
}

Interval min(Interval a, Interval b) { return {std::min(a.low, b.low), std::min(a.high, b.high)}; }

Interval max(Interval a, Interval b) { return {std::max(a.low, b.low), std::max(a.high, b.high)}; }

Interval intersect(Interval a, Interval b) {
  return {std::max(a.low, b.low), std::min(a.high, b.high)};
}

Interval unite(Interval a, Interval b) {
  return {std::min(a.low, b.low), std::max(a.high, b.high)};
}

Interval floor_div(Interval a, std::int64_t divisor) {
  return {unbounded(a.low) ? a.low : floor_div(a.low, divisor),
          unbounded(a.high) ? a.high : floor_div(a.high, divisor)};
}

Interval floor_mod(Interval a, std::int64_t divisor) {
  std::int64_t quotient = 0;
  if (single_quotient(a, divisor, quotient)) {
    return {a.low - quotient * divisor, a.high - quotient * divisor};
  }
  return Interval::extent(divisor);
}

bool single_quotient(Interval a, std::int64_t divisor, std::int64_t& quotient) {
  if (!a.is_bounded()) return false;
  quotient = floor_div(a.low, divisor);
  return quotient == floor_div(a.high, divisor);
}

}  // namespace attune::ir
