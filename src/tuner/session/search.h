// What a session asks of a search: proposals, given what became of the earlier ones. A search is
// deterministic and its state is a text, so that a session can be put aside and resumed.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
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

class Search {
 public:
  virtual ~Search() = default;
  // At most `count` traces that it has not proposed before; none: there are no more.
  virtual std::vector<Proposal> select(std::size_t count) = 0;
  // In the order of candidate numbers. Some may be of traces that it never proposed.
  virtual void update(std::span<const Observation> observations) = 0;
  virtual std::string state() const = 0;
  virtual Status restore(std::string_view state) = 0;
};

}  // namespace attune::session
