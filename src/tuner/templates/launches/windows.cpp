// Reductions over a window of each position: depthwise convolutions and pooling. Channels lie along
// the vector, neighbouring positions go to neighbouring threads, and each thread computes a few
// rows and columns of them in registers. What their windows have in common is read once, before any
// of it is used; weights lie as vectors of channels.
#include <algorithm>
#include <set>

#include "compiler/ir/nodes/rewrite.h"
#include "tuner/templates/dataflow.h"
#include "tuner/templates/inlining.h"
#include "tuner/templates/launches/launches.h"
#include "tuner/templates/launches/whole_program.h"
#include "tuner/templates/program_facts.h"

namespace attune::templates {
namespace {

constexpr double kWastedWork = 400;  // borders are found anew for every position
constexpr std::int64_t kMostSteps = 256, kMostUnrolled = 64, kMostLanes = 16;
constexpr std::int64_t kMostSums = 32;  // of a thread

const std::set<std::string> kKept{"pad", "filter"};

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

// A short last axis along which everything that is read lies side by side, if it moves with it.
bool has_lanes(const ir::Stage& stage) {
  const ir::Axis& lane = stage.axes.back();
  bool whole = lane.extent <= kMostLanes;
  ir::visit(stage.values[0], [&](const ir::Expr& e) {
    const auto* load = ir::as<ir::Load>(e);
    if (load == nullptr || load->index.empty()) return;
    const ir::Expr& last = load->index.back();
    whole &= ir::as<ir::Var>(last) != nullptr || !ir::uses_var(last, lane.name);
  });
  return whole;
}

// The axes along which a thread computes several positions, columns first; rows where there are
// any.
std::vector<const ir::Axis*> tiled_axes(const ir::Stage& stage) {
  std::vector<const ir::Axis*> axes;
  for (std::size_t i = stage.axes.size() - (has_lanes(stage) ? 1 : 0);
       i-- > 0 && axes.size() < 2;) {
    axes.push_back(&stage.axes[i]);
  }
  return axes;
}

Inlined inlined_of(const space::Subject& subject) {
  return inline_producers(subject, kWastedWork, kKept, true);
}

// Tiles of an axis that leave little of its last one empty.
std::vector<std::int64_t> tiles_of(std::int64_t extent, std::vector<std::int64_t> sizes) {
  std::erase_if(sizes, [&](std::int64_t size) {
    const std::int64_t covered = (extent + size - 1) / size * size;
    return size > 1 && 100 * covered > 115 * extent;
  });
  return sizes;
}

std::vector<space::Knob> knobs(const ir::Program& program, const target::Target& target) {
  const std::vector<const ir::Axis*> tiled = tiled_axes(*window_of(program));
  std::vector<std::int64_t> threads;
  for (std::int64_t count : {32, 64, 128, 256, 512}) {
    if (count <= target.launch.threads_per_block) threads.push_back(count);
  }
  if (threads.empty()) threads.push_back(target.launch.threads_per_block);
  const std::int64_t rows = tiled.size() > 1 ? tiled[1]->extent : 1;
  return {space::choice_of("threads", threads),
          space::choice_of("positions", tiles_of(tiled[0]->extent, {1, 2, 3, 4, 7, 8})),
          space::choice_of("rows", tiles_of(rows, {1, 2, 3, 4, 7})),
          space::choice_of("written_out", {1, 0})};
}

space::Settings default_values(const ir::Program&, const target::Target&) {
  return {{"threads", {{128}}}, {"positions", {{2}}}, {"rows", {{1}}}, {"written_out", {{1}}}};
}

std::optional<std::string> reject(const ir::Program& program, const target::Target&,
                                  const space::Values& values) {
  const ir::Stage& window = *window_of(program);
  const std::int64_t lanes = has_lanes(window) ? window.axes.back().extent : 1;
  if (values["positions"] * values["rows"] * lanes > kMostSums) return "too many sums in a thread";
  return std::nullopt;
}

class WindowWriter {
 public:
  WindowWriter(LaunchWriter& writer, const ir::Stage& window, const space::Values& values)
      : writer_(writer), window_(window), values_(values), lanes_(has_lanes(window)) {}

  // The reduction in registers, at the threads of its host.
  bool write(const std::string& host, const std::string& sum) {
    if (!cut(host) || !perform(schedule::ComputeAt{sum, host, thread_}) ||
        !perform(schedule::SetScope{sum, "register"})) {
      return false;
    }
    schedule::Names order = writer_.loops(sum, true);
    const schedule::Names own = writer_.loops(sum, false);
    const bool written_out = values_["written_out"] == 1 && steps_of(window_) <= kMostUnrolled;
    for (const std::string& loop : order) {
      if (written_out && !perform(schedule::Unroll{sum, loop})) return false;
    }
    order.insert(order.end(), own.begin(), own.end());
    return perform(schedule::Reorder{sum, order}) && write_out(sum, own);
  }

  // What the windows of a thread read beyond the border and within it.
  bool hold_pixels(const std::string& host) {
    return perform(schedule::ComputeAt{"pad", host, thread_}) &&
           perform(schedule::SetScope{"pad", "register"}) &&
           write_out("pad", writer_.loops("pad", false));
  }

 private:
  bool perform(const schedule::Step& step) { return writer_.perform(step); }

  // Loops of a thread over elements: a vector of lanes, and all around it written out.
  bool write_out(const std::string& stage, const schedule::Names& loops) {
    for (std::size_t i = 0; i < loops.size(); ++i) {
      const bool vector = lanes_ && i + 1 == loops.size();
      const schedule::Step step = vector ? schedule::Step(schedule::Vectorize{stage, loops[i]})
                                         : schedule::Step(schedule::Unroll{stage, loops[i]});
      if (!perform(step)) return false;
    }
    return true;
  }

  bool cut(const std::string& host) {
    schedule::Names outer = writer_.loops(host, false), inner;
    schedule::Names lane;
    if (lanes_) {
      lane.push_back(outer.back());
      outer.pop_back();
    }
    const std::size_t tiled = std::min<std::size_t>(2, outer.size());
    const char* const knobs[] = {"positions", "rows"};
    for (std::size_t i = 0; i < tiled; ++i) {
      std::string& loop = outer[outer.size() - 1 - i];
      if (!perform(schedule::Split{host, loop, {values_[knobs[i]]}})) return false;
      inner.insert(inner.begin(), loop + ".1");
      loop += ".0";
    }
    inner.insert(inner.end(), lane.begin(), lane.end());
    schedule::Names order(outer);
    order.insert(order.end(), inner.begin(), inner.end());
    if (!perform(schedule::Reorder{host, order})) return false;
    const std::string all = writer_.fused(host, outer);
    thread_ = all + ".1";
    return perform(schedule::Split{host, all, {values_["threads"]}}) &&
           perform(schedule::Bind{host, all + ".0", "block.x"}) &&
           perform(schedule::Bind{host, thread_, "thread.x"}) && write_out(host, inner);
  }

  LaunchWriter& writer_;
  const ir::Stage& window_;
  const space::Values& values_;
  const bool lanes_;
  std::string thread_;
};

// Weights of a block of channels lie side by side, step by step.
void lay_out_weights(LaunchWriter& writer, const ir::Program& program, const ir::Stage& window) {
  const ir::Stage* filter = program.find_stage("filter");
  const std::int64_t lanes = window.axes.back().extent;
  if (filter == nullptr || !has_lanes(window) || filter->axes.size() < 2 || lanes < 2 ||
      filter->axes[0].extent % lanes != 0 || is_output(program, *filter)) {
    return;
  }
  const std::string block = std::to_string(lanes);
  const std::string& channel = filter->axes[0].name;
  schedule::Layout layout{filter->name, {channel + "/" + block}};
  for (std::size_t i = 1; i < filter->axes.size(); ++i)
    layout.terms.push_back(filter->axes[i].name);
  layout.terms.push_back(channel + "%" + block);
  writer.perform(layout);
}

space::Written trace(const space::Subject& subject, const target::Target& target,
                     const space::Values& values) {
  const Inlined inlined = inlined_of(subject);
  const ir::Stage& window = *inlined.program.find_stage(window_of(subject.program)->name);
  LaunchWriter writer(subject, inlined.steps, target.launch);
  lay_out_weights(writer, inlined.program, window);
  const ir::Stage* host = host_of(inlined.program, window);
  const std::string stored = host != nullptr ? host->name : window.name;
  const ir::Stage* pad = inlined.program.find_stage("pad");
  const bool pads = pad != nullptr && !is_output(inlined.program, *pad) &&
                    readers_of(inlined.program, *pad).size() == 1;
  std::set<std::string> done;
  const auto write = [&](bool held) {
    WindowWriter windows(writer, window, values);
    if (host == nullptr && !writer.perform(schedule::CacheWrite{window.name})) return false;
    const std::string sum = host != nullptr ? window.name : "cache." + window.name;
    if (!windows.write(stored, sum)) return false;
    return held ? windows.hold_pixels(stored) : true;
  };
  if (pads && writer.together([&] { return write(true); })) {
    done.insert({window.name, stored, "pad"});
  } else if (writer.together([&] {
               return (!pads || writer.perform(schedule::Inline{"pad"})) && write(false);
             })) {
    done.insert({window.name, stored, "pad"});
  }
  write_others(writer, inlined.program, done,
               {.tiling = {.threads_y = 4, .tile_y = 1, .threads_x = 16, .tile_x = 1},
                .threads = values["threads"],
                .per_thread = 1});
  return writer.take();
}

}  // namespace

space::Template launch_windows() { return {"windows", fits, knobs, trace, default_values, reject}; }

}  // namespace attune::templates
