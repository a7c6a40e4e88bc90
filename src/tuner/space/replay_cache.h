// Replaying traces that begin alike. Steps that rewrite what stages compute (inlining, caches of
// results, factored reductions) cost far more than those that only arrange loops, and most traces
// of a template have the former in common; the states behind them are remembered.
#pragma once

#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "compiler/schedule/trace.h"

namespace attune::space {

class ReplayCache {
 public:
  explicit ReplayCache(schedule::State begin) : begin_(std::move(begin)) {}

  // The state after all steps; the error of the first that is illegal. May be called by several
  // threads.
  Result<schedule::State> replay(const schedule::Trace& trace);

 private:
  // What follows a step, by the text of the next one.
  struct Node {
    std::map<std::string, Node> next;
    std::optional<schedule::State> state;  // behind steps that rewrite
  };

  // The longest beginning of a trace behind which a state is remembered.
  struct Remembered {
    std::size_t steps = 0;
    std::optional<schedule::State> state = {};
  };
  Remembered find(const std::vector<std::string>& beginning) const;
  void remember(const std::vector<std::string>& beginning,
                std::vector<std::pair<std::size_t, schedule::State>> made);

  schedule::State begin_;
  mutable std::mutex mutex_;
  Node root_;
  std::size_t nodes_ = 0;
};

}  // namespace attune::space
