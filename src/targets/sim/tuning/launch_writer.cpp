#include "targets/sim/tuning/launch_writer.h"

#include <algorithm>

#include "compiler/schedule/bounds.h"

namespace attune::sim {

using schedule::StageState;

LaunchWriter::LaunchWriter(const ir::Program& program, const schedule::Trace& begun,
                           const Machine& machine)
    : machine_(machine), state_(schedule::initial_state(program)) {
  for (const schedule::Step& step : begun) perform(step);
}

const StageState& LaunchWriter::stage(const std::string& name) const {
  const int index = state_.find(name);
  CHECK(index >= 0, "no stage '" + name + "' to schedule");
  return *state_.stages[static_cast<std::size_t>(index)];
}

std::vector<std::string> LaunchWriter::loops(const std::string& name, bool reduce) const {
  std::vector<std::string> names;
  const StageState& found = stage(name);
  for (const int loop : found.loops) {
    const schedule::Iter& iter = found.iters[static_cast<std::size_t>(loop)];
    if (iter.reduce == reduce) names.push_back(iter.name);
  }
  return names;
}

bool LaunchWriter::perform(const schedule::Step& step) {
  schedule::State next = state_;
  if (!schedule::perform(next, step).ok()) return false;
  state_ = std::move(next);
  trace_.push_back(step);
  return true;
}

bool LaunchWriter::together(const std::function<bool()>& steps) {
  const schedule::State before = state_;
  const std::size_t length = trace_.size();
  if (steps() && fits_device()) return true;
  state_ = before;
  trace_.resize(length);
  return false;
}

bool LaunchWriter::fits_device() const {
  const auto bounds = schedule::infer_bounds(state_, schedule::Mins::Leave);
  if (!bounds.ok()) return false;
  std::int64_t shared = 0;
  for (std::size_t i = 0; i < state_.stages.size(); ++i) {
    const StageState& each = *state_.stages[i];
    if (each.scope != ir::Scope::Shared && each.scope != ir::Scope::Register) continue;
    std::int64_t bytes = each.stage.outputs[0]->type.bytes();
    for (std::size_t a = 0; a < each.stage.axes.size(); ++a) bytes *= (*bounds)[i].axes[a];
    if (each.scope == ir::Scope::Shared) shared += bytes;
    if (each.scope == ir::Scope::Register && bytes > machine_.register_bytes) return false;
  }
  return shared <= machine_.shared_kb << 10;
}

std::string LaunchWriter::fused(const std::string& name, const std::vector<std::string>& names) {
  if (names.size() == 1) return names[0];
  const auto position = static_cast<std::size_t>(std::max(0, stage(name).find_loop(names.front())));
  if (!perform(schedule::Fuse{name, names})) return names[0];
  const StageState& after = stage(name);
  return after.iters[static_cast<std::size_t>(after.loops[position])].name;
}

void LaunchWriter::spread(const std::string& name, std::int64_t threads, std::int64_t per_thread) {
  const std::vector<std::string> axes = loops(name, false);
  if (axes.empty()) return;
  together([&] {
    const std::string all = fused(name, axes);
    return perform(schedule::Split{name, all, {per_thread, threads}}) &&
           perform(schedule::Bind{name, all + ".0", "block.x"}) &&
           perform(schedule::Bind{name, all + ".2", "thread.x"});
  });
}

bool LaunchWriter::fetch_together(const std::string& tensor, const std::string& reader,
                                  const std::string& loop, const Tiling& tiling) {
  const std::string copy = "cache." + tensor;
  return together([&] {
    if (!perform(schedule::CacheRead{tensor, reader}) ||
        !perform(schedule::ComputeAt{copy, reader, loop}) ||
        !perform(schedule::SetScope{copy, "shared"})) {
      return false;
    }
    const std::string all = fused(copy, loops(copy, false));
    return perform(schedule::Split{copy, all, {tiling.threads_y, tiling.threads_x}}) &&
           perform(schedule::Bind{copy, all + ".1", "thread.y"}) &&
           perform(schedule::Bind{copy, all + ".2", "thread.x"});
  });
}

void LaunchWriter::tile(const std::string& host, const std::string& reduction,
                        const Tiling& tiling) {
  std::vector<std::string> axes = loops(host, false);
  if (axes.empty()) return;
  // The last two axes that are longer than one are cut into tiles, blocks go over the others.
  std::vector<std::string> cut;
  for (std::size_t i = axes.size(); i-- > 0 && cut.size() < 2;) {
    if (stage(host).stage.axes[i].extent > 1) cut.push_back(axes[i]);
  }
  if (cut.empty()) cut.push_back(axes.back());
  for (const std::string& each : cut) std::erase(axes, each);
  const bool placed = together([&] {
    schedule::Names order(axes.begin(), axes.end());
    const std::int64_t threads[] = {tiling.threads_x, tiling.threads_y};
    const std::int64_t tiles[] = {tiling.tile_x, tiling.tile_y};
    for (std::size_t i = 0; i < cut.size(); ++i) {
      if (!perform(schedule::Split{host, cut[i], {threads[i], tiles[i]}})) return false;
    }
    for (const char* level : {".0", ".1", ".2"}) {
      for (std::size_t i = cut.size(); i-- > 0;) order.push_back(cut[i] + level);
    }
    if (!perform(schedule::Reorder{host, order})) return false;
    if (!axes.empty() && !perform(schedule::Bind{host, fused(host, axes), "block.z"})) return false;
    constexpr const char* kBlocks[] = {"block.x", "block.y"};
    constexpr const char* kThreads[] = {"thread.x", "thread.y"};
    for (std::size_t i = cut.size(); i-- > 0;) {
      if (!perform(schedule::Bind{host, cut[i] + ".0", kBlocks[i]})) return false;
    }
    for (std::size_t i = cut.size(); i-- > 0;) {
      if (!perform(schedule::Bind{host, cut[i] + ".1", kThreads[i]})) return false;
    }
    return perform(schedule::ComputeAt{reduction, host, cut[0] + ".1"}) &&
           perform(schedule::SetScope{reduction, "register"});
  });
  if (!placed) return;
  const std::vector<std::string> steps = loops(reduction, true);
  const std::vector<ir::Axis>& reduce_axes = stage(reduction).stage.reduce_axes;
  const auto longer = std::find_if(reduce_axes.begin(), reduce_axes.end(),
                                   [](const ir::Axis& axis) { return axis.extent > 1; });
  const auto chunked =
      static_cast<std::size_t>(longer == reduce_axes.end() ? 0 : longer - reduce_axes.begin());
  std::string outer;
  together([&] {
    outer = steps[chunked] + ".0";
    schedule::Names order{outer, steps[chunked] + ".1"};
    for (std::size_t i = 0; i < steps.size(); ++i) {
      if (i != chunked) order.push_back(steps[i]);
    }
    for (const std::string& axis : loops(reduction, false)) order.push_back(axis);
    return perform(schedule::Split{reduction, steps[chunked], {tiling.chunk}}) &&
           perform(schedule::Reorder{reduction, order});
  });
  if (!tiling.shared) return;
  std::vector<std::string> tensors;
  for (const schedule::Access& access : stage(reduction).accesses) {
    tensors.push_back(access.buffer->name);
  }
  for (const std::string& tensor : tensors) fetch_together(tensor, reduction, outer, tiling);
}

void LaunchWriter::tile(const std::string& reduction, const Tiling& tiling) {
  if (!perform(schedule::CacheWrite{reduction})) {
    spread(reduction, tiling.threads_x * tiling.threads_y, 1);
    return;
  }
  tile(reduction, "cache." + reduction, tiling);
}

}  // namespace attune::sim
