#include "targets/sim/tuning/prior.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string>

namespace attune::sim {
namespace {

using schedule::StageBounds;
using schedule::StageState;
using schedule::State;

// The extents of a launch's axes, each as long as its longest loop.
struct Launch {
  std::map<std::string, std::int64_t> axes;
  double cycles = 0;  // of one thread after the other

  std::int64_t extent(std::string_view kind) const {
    std::int64_t product = 1;
    for (const auto& [axis, extent] : axes) {
      if (axis.starts_with(kind)) product *= extent;
    }
    return product;
  }
};

// The root stage around it, by index.
std::size_t root_of(const State& state, std::size_t index) {
  while (!state.stages[index]->at_root()) {
    index = static_cast<std::size_t>(state.find(state.stages[index]->at_stage));
  }
  return index;
}

// How often a stage that is computed within a loop of another begins: the iterations around it.
double times_computed(const State& state, const std::vector<StageBounds>& bounds,
                      std::size_t index) {
  double times = 1;
  while (!state.stages[index]->at_root()) {
    const auto host = static_cast<std::size_t>(state.find(state.stages[index]->at_stage));
    const StageState& around = *state.stages[host];
    for (const int loop : around.loops) {
      times *= static_cast<double>(bounds[host].iters[static_cast<std::size_t>(loop)]);
      if (around.iters[static_cast<std::size_t>(loop)].name == state.stages[index]->at_loop) break;
    }
    index = host;
  }
  return times;
}

bool is_constant(const State& state, const ir::Buffer& buffer, const std::set<ir::Buffer>& known) {
  if (known.count(buffer) > 0) return true;
  return std::any_of(state.inputs.begin(), state.inputs.end(), [&](const ir::Input& input) {
    return input.buffer == buffer && input.constant;
  });
}

}  // namespace

double Prior::predict_us(const space::Scheduled& scheduled) const {
  const State& state = scheduled.state;
  const std::vector<StageBounds>& bounds = scheduled.bounds;
  std::map<std::size_t, Launch> launches;
  std::set<ir::Buffer> ahead;
  for (std::size_t i = 0; i < state.stages.size(); ++i) {
    const StageState& stage = *state.stages[i];
    const bool computed_ahead =
        stage.at_root() && !state.is_output(static_cast<int>(i)) &&
        std::all_of(stage.accesses.begin(), stage.accesses.end(),
                    [&](const auto& access) { return is_constant(state, access.buffer, ahead); });
    if (computed_ahead) {
      ahead.insert(stage.stage.outputs.begin(), stage.stage.outputs.end());
      continue;
    }
    Launch& launch = launches[root_of(state, i)];
    double iterations = times_computed(state, bounds, i);
    for (const int loop : stage.loops) {
      const auto at = static_cast<std::size_t>(loop);
      iterations *= static_cast<double>(bounds[i].iters[at]);
      if (stage.iters[at].kind != ir::LoopKind::Bound) continue;
      std::int64_t& extent = launch.axes[stage.iters[at].axis];
      extent = std::max(extent, bounds[i].iters[at]);
    }
    double each = 1;
    for (const schedule::Access& access : stage.accesses) {
      const int producer = state.producer_of(access.buffer);
      const bool global =
          producer < 0 || state.stages[static_cast<std::size_t>(producer)]->at_root();
      each += global ? static_cast<double>(machine_.segment_cycles) : 1;
    }
    launch.cycles += iterations * each;
  }
  double cycles = 0;
  for (const auto& [root, launch] : launches) {
    const auto threads = static_cast<double>(launch.extent("thread"));
    const auto warp = static_cast<double>(machine_.warp);
    const double lanes = threads / (std::ceil(threads / warp) * warp) * warp;
    const auto busy =
        static_cast<double>(std::min(launch.extent("block"), machine_.multiprocessors));
    cycles += static_cast<double>(machine_.launch_cycles) + launch.cycles / (lanes * busy);
  }
  return cycles / static_cast<double>(machine_.clock_mhz);
}

}  // namespace attune::sim
