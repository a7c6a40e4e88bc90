// From a trace back to the point of a space that it was made from: the way from a stored schedule
// to its knobs.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>

#include "tuner/space/space.h"

namespace attune::space {

class TraceLookup {
 public:
  // The space must outlive the lookup.
  explicit TraceLookup(const Space& space) : space_(space) {}

  // Nothing when no point of the space has this trace, or none was found: spaces too large to look
  // at every point are climbed, knob by knob, towards the trace.
  std::optional<Point> find(const schedule::Trace& trace);

 private:
  std::optional<Point> find_any(const schedule::Trace& trace);
  std::optional<Point> climb(const schedule::Trace& trace) const;

  const Space& space_;
  std::unordered_map<std::uint64_t, std::uint64_t> index_by_hash_;  // filled when first used
};

}  // namespace attune::space
