#include "tuner/logs/trace_lookup.h"

#include <algorithm>
#include <string>
#include <vector>

namespace attune::logs {
namespace {

constexpr std::uint64_t kAllLookedAt = 1 << 16;

std::vector<std::string> sorted_steps(const schedule::Trace& trace) {
  std::vector<std::string> steps;
  for (const schedule::Step& step : trace) steps.push_back(schedule::to_string(step));
  std::sort(steps.begin(), steps.end());
  return steps;
}

// Steps that only one of the two has.
std::size_t difference(const std::vector<std::string>& a, const std::vector<std::string>& b) {
  std::vector<std::string> either;
  std::set_symmetric_difference(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(either));
  return either.size();
}

}  // namespace

std::optional<space::Point> TraceLookup::find(const schedule::Trace& trace) {
  if (space_.size() == 0) return std::nullopt;
  if (space_.size() > kAllLookedAt) return climb(trace);
  if (index_by_hash_.empty()) {
    for (std::uint64_t i = 0; i < space_.size(); ++i) {
      index_by_hash_.emplace(schedule::hash(space_.trace_of(space_.point_at(i))), i);
    }
  }
  const auto found = index_by_hash_.find(schedule::hash(trace));
  if (found == index_by_hash_.end()) return std::nullopt;
  return space_.point_at(found->second);
}

std::optional<space::Point> TraceLookup::climb(const schedule::Trace& trace) const {
  const std::vector<std::string> wanted = sorted_steps(trace);
  for (space::Point point : space_.defaults()) {
    std::size_t left = difference(sorted_steps(space_.trace_of(point)), wanted);
    for (bool better = true; better && left > 0;) {
      better = false;
      for (space::Point& neighbour : space_.neighbours(point)) {
        const std::size_t d = difference(sorted_steps(space_.trace_of(neighbour)), wanted);
        if (d >= left) continue;
        left = d;
        point = std::move(neighbour);
        better = true;
        break;
      }
    }
    if (schedule::hash(space_.trace_of(point)) == schedule::hash(trace)) return point;
  }
  return std::nullopt;
}

}  // namespace attune::logs
