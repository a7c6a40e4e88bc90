// The loops around the stage with the most iterations, the innermost first, so that the same place
// means the same thing whatever the number of loops outside.
#include <algorithm>

#include "tuner/features/kinds.h"
#include "tuner/features/loop_facts.h"

namespace attune::features {
namespace {

constexpr std::size_t kLoops = 20;

}  // namespace

std::size_t context_width() { return kLoops * kLoopWidth; }

void extract_context(const space::Scheduled& scheduled, const target::Target& target,
                     std::span<float> out) {
  std::fill(out.begin(), out.end(), 0.0F);
  const auto nests = space::loop_nests(scheduled.state, scheduled.bounds);
  const auto stages = busiest_stages(nests);
  if (stages.empty()) return;
  const StageFacts facts = stage_facts(scheduled.state, scheduled.bounds, nests, stages[0], target);
  const std::size_t count = std::min(kLoops, facts.loops.size());
  for (std::size_t i = 0; i < count; ++i) {
    encode_loop(facts.loops[facts.loops.size() - 1 - i], out.data() + i * kLoopWidth);
  }
}

}  // namespace attune::features
