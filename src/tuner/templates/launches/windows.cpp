// Reductions over a window of each position: depthwise convolutions and pooling. Channels lie along
// the vector, neighbouring positions go to neighbouring threads, and each thread computes a few of
// them in registers, so that what their windows have in common is read once.
#include <algorithm>
#include <set>

#include "tuner/templates/dataflow.h"
#include "tuner/templates/inlining.h"
#include "tuner/templates/launches/launches.h"
#include "tuner/templates/launches/whole_program.h"
#include "tuner/templates/program_facts.h"

namespace attune::templates {
namespace {

constexpr double kWastedWork = 400;  // borders are found anew for every position
constexpr std::int64_t kMostSteps = 256, kMostUnrolled = 64, kMostLanes = 16;

std::int64_t steps_of(const ir::Stage& stage) {
  std::int64_t steps = 1;
  for (const ir::Axis& axis : stage.reduce_axes) steps *= axis.extent;
  return steps;
}

// The reduction with most steps that is computed when the program runs.
const ir::Stage* window_of(const ir::Program& program) {
  const auto constants = constants_of(program);
  const ir::Stage* found = nullptr;
  for (const ir::Stage& stage : program.stages) {
    if (!reduces(stage) || constants.count(stage.outputs[0]) > 0) continue;
    if (found != nullptr) return nullptr;
    found = &stage;
  }
  if (found == nullptr || found->axes.size() < 2 || found->outputs.size() != 1) return nullptr;
  return steps_of(*found) <= kMostSteps ? found : nullptr;
}

bool fits(const ir::Program& program) { return window_of(program) != nullptr; }

bool has_lanes(const ir::Stage& stage) { return stage.axes.back().extent <= kMostLanes; }

// The axis along which a thread computes several positions.
const ir::Axis& tiled_axis(const ir::Stage& stage) {
  return stage.axes[stage.axes.size() - (has_lanes(stage) ? 2 : 1)];
}

std::vector<space::Knob> knobs(const ir::Program& program, const target::Target& target) {
  const ir::Stage& stage = *window_of(program);
  std::vector<std::int64_t> threads;
  for (std::int64_t count : {32, 64, 128, 256, 512}) {
    if (count <= target.launch.threads_per_block) threads.push_back(count);
  }
  if (threads.empty()) threads.push_back(target.launch.threads_per_block);
  return {space::choice_of("threads", threads),
          space::split_list("positions", tiled_axis(stage).extent, {1, 2, 3, 4, 7, 8}),
          space::choice_of("written_out", {1, 0})};
}

space::Settings default_values(const ir::Program&, const target::Target&) {
  return {{"threads", {{128}}}, {"positions", {{2}}}, {"written_out", {{1}}}};
}

// The reduction in registers, at the threads of its host.
bool write_window(LaunchWriter& writer, const std::string& host, const std::string& sum,
                  const ir::Stage& window, const space::Values& values) {
  const ir::Stage stage = writer.stage(host).stage;
  schedule::Names axes = writer.loops(host, false);
  const bool lanes = has_lanes(window);
  const std::string lane = axes.back();
  if (lanes) axes.pop_back();
  const std::string tiled = axes.back();
  if (!writer.perform(schedule::Split{host, tiled, {values["positions"]}})) return false;
  axes.back() = tiled + ".0";
  const std::string all = writer.fused(host, axes);
  if (!writer.perform(schedule::Split{host, all, {values["threads"]}}) ||
      !writer.perform(schedule::Bind{host, all + ".0", "block.x"}) ||
      !writer.perform(schedule::Bind{host, all + ".1", "thread.x"}) ||
      !writer.perform(schedule::ComputeAt{sum, host, all + ".1"}) ||
      !writer.perform(schedule::SetScope{sum, "register"}) ||
      !writer.perform(schedule::Unroll{host, tiled + ".1"})) {
    return false;
  }
  if (lanes && !writer.perform(schedule::Vectorize{host, lane})) return false;
  schedule::Names order = writer.loops(sum, true), own = writer.loops(sum, false);
  const bool written_out = values["written_out"] == 1 && steps_of(window) <= kMostUnrolled;
  for (const std::string& loop : order) {
    if (written_out && !writer.perform(schedule::Unroll{sum, loop})) return false;
  }
  order.insert(order.end(), own.begin(), own.end());
  if (!writer.perform(schedule::Reorder{sum, order})) return false;
  for (std::size_t i = 0; i < own.size(); ++i) {
    const bool vector = lanes && i + 1 == own.size();
    const schedule::Step step = vector ? schedule::Step(schedule::Vectorize{sum, own[i]})
                                       : schedule::Step(schedule::Unroll{sum, own[i]});
    if (!writer.perform(step)) return false;
  }
  return true;
}

schedule::Trace trace(const ir::Program& program, const target::Target& target,
                      const space::Values& values) {
  const Inlined inlined = inline_producers(program, kWastedWork, {}, true);
  const ir::Stage& window = *inlined.program.find_stage(window_of(program)->name);
  LaunchWriter writer(program, inlined.steps, target.launch);
  const ir::Stage* host = host_of(inlined.program, window);
  std::set<std::string> done;
  const bool written = writer.together([&] {
    if (host != nullptr) return write_window(writer, host->name, window.name, window, values);
    return writer.perform(schedule::CacheWrite{window.name}) &&
           write_window(writer, window.name, "cache." + window.name, window, values);
  });
  if (written) done.insert(window.name);
  if (written && host != nullptr) done.insert(host->name);
  write_others(writer, inlined.program, done,
               {.tiling = {.threads_y = 4, .tile_y = 1, .threads_x = 16, .tile_x = 1},
                .threads = values["threads"],
                .per_thread = 1});
  return writer.take();
}

}  // namespace

space::Template launch_windows() { return {"windows", fits, knobs, trace, default_values}; }

}  // namespace attune::templates
