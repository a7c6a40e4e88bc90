#include "tuner/space/replay_cache.h"

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

Result<schedule::State> ReplayCache::replay(const schedule::Trace& trace) {
  const std::lock_guard lock(mutex_);
  if (nodes_ > kMostNodes) root_ = {}, nodes_ = 0;
  const std::size_t beginning = length_of_beginning(trace);
  std::vector<Node*> path;  // behind each step of the beginning, as far as it is remembered
  std::size_t done = 0;
  Node* node = &root_;
  while (path.size() < beginning) {
    std::string text = schedule::to_string(trace[path.size()]);
    auto next = node->next.find(text);
    if (next == node->next.end()) {
      if (node->next.size() >= kMostBranches) break;
      next = node->next.emplace(std::move(text), Node{}).first;
      ++nodes_;
    }
    node = &next->second;
    path.push_back(node);
    if (node->state) done = path.size();
  }
  schedule::State state = done > 0 ? *path[done - 1]->state : begin_;
  for (std::size_t i = done; i < trace.size(); ++i) {
    ATTUNE_RETURN_IF_ERROR(schedule::perform(state, trace[i]));
    if (i < path.size() && rewrites(trace[i])) path[i]->state = state;
  }
  return state;
}

}  // namespace attune::space
