// What a session asks of a search: proposals, given what became of the earlier ones. A search is
// deterministic and tells as text what changed in it, so that a session can be put aside and
// resumed.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "compiler/schedule/trace.h"

namespace attune::session {

struct Proposal {
  schedule::Trace trace;
  double predicted_us = 0;  // 0: no prediction
};

struct Observation {
  std::uint64_t trace_hash = 0;
  const schedule::Trace* trace = nullptr;
  std::optional<double> time_us;  // empty: the candidate failed by its own fault
};

// Why schedules were not worth building, and how many of those that were looked at.
using RejectionCounts = std::map<std::string, std::int64_t>;

class Search {
 public:
  virtual ~Search() = default;
  // At most `count` traces that it has not proposed before; none: there are no more.
  virtual std::vector<Proposal> select(std::size_t count) = 0;
  // In the order of candidate numbers. Some may be of traces that it never proposed.
  virtual void update(std::span<const Observation> observations) = 0;
  // Since it was made, i.e. not what was rejected before it was restored.
  virtual RejectionCounts rejections() const { return {}; }
  // What changed since this was last asked: about as much as was selected and observed meanwhile.
  virtual std::string changes() = 0;
  // All changes so far, in order, into a search that has not been used yet.
  virtual Status restore(std::span<const std::string> changes) = 0;
};

}  // namespace attune::session
