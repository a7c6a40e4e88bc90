// Instructions that the lanes of a warp run together.
#include <fmt/format.h>

#include "compiler/ir/interpret/launch_runner.h"

namespace attune::ir {

void LaunchRunner::by_warps(const TensorCall& call, const Work& work, const Threads& threads) {
  if (call.lanes() != options_.warp) {
    failure_ = invalid(fmt::format("'{}' is run by {} lanes, and warps of the device have {}",
                                   call.name(), call.lanes(), options_.warp));
    return;
  }
  steps_ += std::ssize(threads);
  for (std::size_t i = 0; i < threads.size() && !failure_;) {
    const int warp = threads[i] / options_.warp;
    int missing = warp * options_.warp;
    std::vector<Frame*> lanes;
    touched_count_ = 0;
    for (; i < threads.size() && threads[i] / options_.warp == warp; ++i) {
      missing += threads[i] == missing ? 1 : 0;
      lanes.push_back(&frames_[static_cast<std::size_t>(threads[i])]);
    }
    if (std::ssize(lanes) != call.lanes()) {
      findings_.add(FindingKind::DivergentWarp, "",
                    fmt::format("{} does not take part in '{}' of its warp, which has {} lanes "
                                "there",
                                now_.thread_text(missing), call.name(), lanes.size()));
      continue;
    }
    call.run(lanes);
    if (options_.meter) {
      options_.meter->step(warp, work, {touched_.data(), touched_count_}, call.cycles());
    }
  }
}

}  // namespace attune::ir
