// What all threads of a block read, from what one of them reads: the part of a range's beginning
// that differs between threads becomes part of its length.
#pragma once

#include <set>
#include <string>

#include "compiler/ir/simplify/simplify.h"
#include "compiler/schedule/read_ranges.h"

namespace attune::schedule {

class ThreadRanges {
 public:
  // A loop around the read.
  void add(const StageState& stage, int loop, std::int64_t extent);
  // The values of a range that begins at `begin`, over all threads, of an axis with `whole` values:
  // the range itself where it begins alike for all of them, the whole axis where the beginning
  // mixes threads with other loops in a way that is no sum.
  Range widen(const Range& range, const ir::Expr& begin, std::int64_t whole) const;

 private:
  struct Parts {
    ir::Linear kept;  // the same for all threads
    ir::Interval differs{0, 0};
  };
  bool collect(const ir::Expr& e, std::int64_t factor, Parts& parts) const;

  ir::Ranges ranges_;
  std::set<std::string> threads_;
};

}  // namespace attune::schedule
