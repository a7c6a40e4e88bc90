#include "tuner/templates/launches/general_tiles.h"

#include <algorithm>

namespace attune::templates {
namespace {

bool fetch_together(LaunchWriter& writer, const std::string& tensor, const std::string& reader,
                    const std::string& loop, const Tiling& tiling) {
  const std::string copy = "cache." + tensor;
  return writer.together([&] {
    if (!writer.perform(schedule::CacheRead{tensor, reader}) ||
        !writer.perform(schedule::ComputeAt{copy, reader, loop}) ||
        !writer.perform(schedule::SetScope{copy, "shared"})) {
      return false;
    }
    const std::string all = writer.fused(copy, writer.loops(copy, false));
    return writer.perform(schedule::Split{copy, all, {tiling.threads_y, tiling.threads_x}}) &&
           writer.perform(schedule::Bind{copy, all + ".1", "thread.y"}) &&
           writer.perform(schedule::Bind{copy, all + ".2", "thread.x"});
  });
}

// The last two axes that are longer than one, the last first; they are cut into tiles.
schedule::Names axes_to_cut(const LaunchWriter& writer, const std::string& host,
                            const schedule::Names& axes) {
  schedule::Names cut;
  for (std::size_t i = axes.size(); i-- > 0 && cut.size() < 2;) {
    if (writer.stage(host).stage.axes[i].extent > 1) cut.push_back(axes[i]);
  }
  if (cut.empty()) cut.push_back(axes.back());
  return cut;
}

// Blocks go over the axes that are not cut.
bool place_tiles(LaunchWriter& writer, const std::string& host, const schedule::Names& cut,
                 const schedule::Names& others, const Tiling& tiling) {
  schedule::Names order(others.begin(), others.end());
  const std::int64_t threads[] = {tiling.threads_x, tiling.threads_y};
  const std::int64_t tiles[] = {tiling.tile_x, tiling.tile_y};
  for (std::size_t i = 0; i < cut.size(); ++i) {
    if (!writer.perform(schedule::Split{host, cut[i], {threads[i], tiles[i]}})) return false;
  }
  for (const char* level : {".0", ".1", ".2"}) {
    for (std::size_t i = cut.size(); i-- > 0;) order.push_back(cut[i] + level);
  }
  if (!writer.perform(schedule::Reorder{host, order})) return false;
  if (!others.empty() &&
      !writer.perform(schedule::Bind{host, writer.fused(host, others), "block.z"})) {
    return false;
  }
  constexpr const char* kBlocks[] = {"block.x", "block.y"};
  constexpr const char* kThreads[] = {"thread.x", "thread.y"};
  for (std::size_t i = cut.size(); i-- > 0;) {
    if (!writer.perform(schedule::Bind{host, cut[i] + ".0", kBlocks[i]})) return false;
  }
  for (std::size_t i = cut.size(); i-- > 0;) {
    if (!writer.perform(schedule::Bind{host, cut[i] + ".1", kThreads[i]})) return false;
  }
  return true;
}

// The loop around `chunk` steps of the reduction, which comes first.
std::string cut_steps(LaunchWriter& writer, const std::string& reduction, std::int64_t chunk) {
  const schedule::Names steps = writer.loops(reduction, true);
  const std::vector<ir::Axis>& axes = writer.stage(reduction).stage.reduce_axes;
  const auto longer =
      std::find_if(axes.begin(), axes.end(), [](const ir::Axis& axis) { return axis.extent > 1; });
  const auto chunked = static_cast<std::size_t>(longer == axes.end() ? 0 : longer - axes.begin());
  const std::string outer = steps[chunked] + ".0";
  writer.together([&] {
    schedule::Names order{outer, steps[chunked] + ".1"};
    for (std::size_t i = 0; i < steps.size(); ++i) {
      if (i != chunked) order.push_back(steps[i]);
    }
    for (const std::string& axis : writer.loops(reduction, false)) order.push_back(axis);
    return writer.perform(schedule::Split{reduction, steps[chunked], {chunk}}) &&
           writer.perform(schedule::Reorder{reduction, order});
  });
  return outer;
}

// Without tiles: every thread reduces one element.
void reduce_by_element(LaunchWriter& writer, const std::string& host, const std::string& reduction,
                       std::int64_t threads) {
  writer.together([&] {
    const std::string all = writer.fused(host, writer.loops(host, false));
    return writer.perform(schedule::Split{host, all, {threads}}) &&
           writer.perform(schedule::Bind{host, all + ".0", "block.x"}) &&
           writer.perform(schedule::Bind{host, all + ".1", "thread.x"}) &&
           writer.perform(schedule::ComputeAt{reduction, host, all + ".1"}) &&
           writer.perform(schedule::SetScope{reduction, "register"});
  });
}

}  // namespace

void spread(LaunchWriter& writer, const std::string& stage, std::int64_t threads,
            std::int64_t per_thread) {
  const schedule::Names axes = writer.loops(stage, false);
  if (axes.empty()) return;
  const std::int64_t most = std::min(threads, writer.device().threads_per_block);
  writer.attempt([&] {
    const std::string all = writer.fused(stage, axes);
    return writer.perform(schedule::Split{stage, all, {per_thread, most}}) &&
           writer.perform(schedule::Bind{stage, all + ".0", "block.x"}) &&
           writer.perform(schedule::Bind{stage, all + ".2", "thread.x"});
  });
}

void tile(LaunchWriter& writer, const std::string& host, const std::string& reduction,
          const Tiling& tiling) {
  schedule::Names others = writer.loops(host, false);
  if (others.empty()) return;
  const schedule::Names cut = axes_to_cut(writer, host, others);
  for (const std::string& each : cut) std::erase(others, each);
  const bool placed = writer.together([&] {
    return place_tiles(writer, host, cut, others, tiling) &&
           writer.perform(schedule::ComputeAt{reduction, host, cut[0] + ".1"}) &&
           writer.perform(schedule::SetScope{reduction, "register"});
  });
  if (!placed) {
    reduce_by_element(writer, host, reduction, tiling.threads_y * tiling.threads_x);
    return;
  }
  const std::string outer = cut_steps(writer, reduction, tiling.chunk);
  if (!tiling.shared) return;
  std::vector<std::string> tensors;
  for (const schedule::Access& access : writer.stage(reduction).accesses) {
    tensors.push_back(access.buffer->name);
  }
  for (const std::string& tensor : tensors) {
    fetch_together(writer, tensor, reduction, outer, tiling);
  }
}

void tile(LaunchWriter& writer, const std::string& reduction, const Tiling& tiling) {
  if (!writer.perform(schedule::CacheWrite{reduction})) {
    spread(writer, reduction, tiling.threads_x * tiling.threads_y, 1);
    return;
  }
  tile(writer, reduction, "cache." + reduction, tiling);
}

}  // namespace attune::templates
