// Facts about the loops around a stage that all features are made of: how long a loop is, how often
// it runs, and what it touches. The buffers of a stage are put into three slots by what they are to
// the vector loop, so that operators with different operands can be compared: those that stand
// still while it runs, those that move with it, and the results.
#pragma once

#include <array>
#include <vector>

#include "compiler/target/target.h"
#include "tuner/space/nest.h"
#include "tuner/space/register_tile.h"

namespace attune::features {

inline constexpr std::size_t kSlots = 3;
enum Slot : std::size_t { kStill, kMoving, kResult };

// What the buffers of one slot see while a loop runs once from start to end.
struct Touch {
  double elements = 0;
  double bytes = 0;
  double stride = 0;  // bytes between iterations of the loop, the longest of the slot
};

struct LoopFacts {
  double extent = 1;
  ir::LoopKind kind = ir::LoopKind::Serial;
  bool reduce = false;
  bool noted = false;  // carries a note: launder, prefetch
  double outside = 1;  // iterations of this loop and those around it
  double inside = 1;   // iterations of this loop and those inside of it
  std::array<Touch, kSlots> touches;

  double bytes() const { return touches[0].bytes + touches[1].bytes + touches[2].bytes; }
  double reuse(std::size_t slot) const;  // iterations per element
};

struct StageFacts {
  std::size_t stage = 0;
  std::size_t own = 0;  // the first loop that is the stage's own
  double iterations = 1;
  space::RegisterTile tile;
  std::vector<LoopFacts> loops;  // outermost first
};

StageFacts stage_facts(const schedule::State& state,
                       const std::vector<schedule::StageBounds>& bounds,
                       const std::vector<space::StageNest>& nests, std::size_t stage,
                       const target::Target& target);

// The stages that run with the kernel, those with the most iterations first.
std::vector<std::size_t> busiest_stages(const std::vector<space::StageNest>& nests);

// A loop as numbers, into `out`.
inline constexpr std::size_t kLoopWidth = 9 + kSlots * 4;
void encode_loop(const LoopFacts& loop, float* out);

// log2 of a number that is at least 1 (counts, bytes), and 0 for less.
float log_of(double number);
// log2 of a ratio, held within +-30.
float log_ratio(double numerator, double denominator);

}  // namespace attune::features
