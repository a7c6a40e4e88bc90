#include "tuner/space/replay_cache.h"

#include <utility>
#include <variant>

namespace attune::space {
namespace {

constexpr std::size_t kMostNodes = 4096;
constexpr std::size_t kMostBranches = 16;  // where there are more, traces have little in common

bool rewrites(const schedule::Step& step) {
  return std::holds_alternative<schedule::Inline>(step) ||
         std::holds_alternative<schedule::CacheWrite>(step) ||
         std::holds_alternative<schedule::Rfactor>(step);
}

// How many steps there are up to the last that rewrites.
std::size_t length_of_beginning(const schedule::Trace& trace) {
  std::size_t length = trace.size();
  while (length > 0 && !rewrites(trace[length - 1])) --length;
  return length;
}

}  // namespace

// Only finding and adding what is remembered is done one at a time: performing steps takes far
// longer, and several threads do that at once.
Result<schedule::State> ReplayCache::replay(const schedule::Trace& trace) {
  std::vector<std::string> beginning;
  for (std::size_t i = 0, length = length_of_beginning(trace); i < length; ++i) {
    beginning.push_back(schedule::to_string(trace[i]));
  }
  Remembered known = find(beginning);
  schedule::State state = known.state ? std::move(*known.state) : begin_;
  std::vector<std::pair<std::size_t, schedule::State>> made;  // behind so many steps
  for (std::size_t i = known.steps; i < trace.size(); ++i) {
    ATTUNE_RETURN_IF_ERROR(schedule::perform(state, trace[i]));
    if (i < beginning.size() && rewrites(trace[i])) made.emplace_back(i + 1, state);
  }
  if (!made.empty()) remember(beginning, std::move(made));
  return state;
}

ReplayCache::Remembered ReplayCache::find(const std::vector<std::string>& beginning) const {
  const std::lock_guard lock(mutex_);
  Remembered known;
  const Node* node = &root_;
  for (std::size_t i = 0; i < beginning.size(); ++i) {
    const auto next = node->next.find(beginning[i]);
    if (next == node->next.end()) break;
    node = &next->second;
    if (node->state) known = {i + 1, *node->state};
  }
  return known;
}

void ReplayCache::remember(const std::vector<std::string>& beginning,
                           std::vector<std::pair<std::size_t, schedule::State>> made) {
  const std::lock_guard lock(mutex_);
  if (nodes_ > kMostNodes) root_ = {}, nodes_ = 0;
  Node* node = &root_;
  std::size_t done = 0;
  for (auto& [steps, state] : made) {
    for (; done < steps; ++done) {
      auto next = node->next.find(beginning[done]);
      if (next == node->next.end()) {
        if (node->next.size() >= kMostBranches) return;
        next = node->next.emplace(beginning[done], Node{}).first;
        ++nodes_;
      }
      node = &next->second;
    }
    if (!node->state) node->state = std::move(state);
  }
}

}  // namespace attune::space
