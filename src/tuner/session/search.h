// What a session asks of a search: proposals, given what became of the earlier ones. A search is
// deterministic and tells as text what changed in it, so that a session can be put aside and
// resumed.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "tuner/space/candidate.h"

namespace attune::session {

// Why schedules were not worth building, and how many of those that were looked at.
using RejectionCounts = std::map<std::string, std::int64_t>;

class Search {
 public:
  virtual ~Search() = default;
  // At most `count` candidates that it has not proposed before; none: there are no more.
  virtual std::vector<space::Candidate> select(std::size_t count) = 0;
  // In the order of candidate numbers. Some may be of candidates that it never proposed.
  virtual void update(std::span<const space::Candidate> tried) = 0;
  // Since it was made, i.e. not what was rejected before it was restored.
  virtual RejectionCounts rejections() const { return {}; }
  // What changed since this was last asked: about as much as was selected and observed meanwhile.
  virtual std::string changes() = 0;
  // All changes so far, in order, into a search that has not been used yet.
  virtual Status restore(std::span<const std::string> changes) = 0;
};

}  // namespace attune::session
