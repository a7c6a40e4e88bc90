// The loops around every stage, from the outermost of its root nest to its own innermost, and how
// far the axes of the stage move inside of each: footprints and execution counts follow from that.
#pragma once

#include <vector>

#include "tuner/space/spans.h"

namespace attune::space {

struct Level {
  std::int64_t extent;
  ir::LoopKind kind;
  Spans spans;        // of the stage's axes while this loop and those inside of it run
  double useful = 1;  // the part of its iterations that splits that do not divide leave to be done
  // Of that: what the last of `ends` equal runs of iterations lack; the rest lack it all alike.
  double useful_end = 1;
  std::int64_t ends = 1;

  // How many times faster so many threads are that have a contiguous range of iterations each.
  double speed(int threads) const;
};

struct StageNest {
  std::vector<Level> levels;  // outermost first
  std::size_t own = 0;        // index of the first level that is a loop of the stage itself
  std::size_t root = 0;       // the stage whose loops come first
  // The loop whose iterations the threads share, past the end where there is none, and how far the
  // axes move inside of one thread's iterations.
  std::size_t shared = 0;
  Spans of_thread;
  double useful = 1;   // of all levels together
  bool ahead = false;  // reads nothing but constants: computed before the kernel ever runs

  // Of all loops, cut off iterations not counted.
  double iterations() const;
};

std::vector<StageNest> loop_nests(const schedule::State& state,
                                  const std::vector<schedule::StageBounds>& bounds,
                                  int threads = 1);

// Bytes of a buffer that an access touches while the axes move as far as this; rows that are cut
// are touched in whole cache lines where the buffer is row-major.
double touched_bytes(const schedule::Access& access, const Spans& spans, bool row_major);
// Bytes of the results of a stage.
double written_bytes(const ir::Stage& stage, const Spans& spans);

}  // namespace attune::space
