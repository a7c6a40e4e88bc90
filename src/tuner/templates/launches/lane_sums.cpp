#include "tuner/templates/launches/lane_sums.h"

#include <algorithm>

namespace attune::templates {
namespace {

constexpr std::int64_t kAtOnce = 8;  // that one lane reduces as fast as two would

// The axis that a loop becomes.
std::string axis_of(std::string loop) {
  std::replace_if(
      loop.begin(), loop.end(), [](char c) { return c == '.' || c == '*'; }, '_');
  return loop;
}

class LaneWriter {
 public:
  LaneWriter(LaunchWriter& writer, const LanePlace& place) : writer_(writer), place_(place) {}

  bool write(const std::string& reduction, std::int64_t lanes) {
    std::int64_t last = lanes;  // lanes whose results one of them reduces
    while (last * last > lanes && last > kAtOnce) last /= 2;
    const std::string steps = writer_.fused(reduction, writer_.loops(reduction, true));
    const std::string partial = "rf." + reduction, own = "rf." + partial;
    if (last == lanes) {
      return perform(schedule::Split{reduction, steps, {lanes}}) &&
             perform(schedule::Rfactor{reduction, steps + ".1"}) && place_result(reduction) &&
             in_block(partial) && place_.bind_rows(partial, 1) && bind_lanes(partial, 1);
    }
    return perform(schedule::Split{reduction, steps, {lanes / last, last}}) &&
           perform(schedule::Rfactor{reduction, steps + ".2"}) &&
           perform(schedule::Rfactor{partial, axis_of(steps + ".1")}) && place_result(reduction) &&
           in_block(partial) && place_.bind_rows(partial, 1) && bind_lanes(partial, 1) &&
           unroll(partial) && in_block(own) && place_.bind_rows(own, 2) && bind_lanes(own, 2);
  }

 private:
  bool perform(const schedule::Step& step) { return writer_.perform(step); }

  bool in_block(const std::string& stage) {
    return perform(schedule::ComputeAt{stage, place_.stage, place_.loop}) &&
           perform(schedule::SetScope{stage, "shared"});
  }

  bool unroll(const std::string& stage) {
    for (const std::string& loop : writer_.loops(stage, true)) {
      if (!perform(schedule::Unroll{stage, loop})) return false;
    }
    return true;
  }

  bool place_result(const std::string& stage) {
    return in_block(stage) && place_.bind_rows(stage, 0) && unroll(stage);
  }

  // The last axes of a stage, of which the first one is the faster.
  bool bind_lanes(const std::string& stage, std::size_t count) {
    const schedule::Names axes = writer_.loops(stage, false);
    schedule::Names lanes(axes.end() - static_cast<std::ptrdiff_t>(count), axes.end());
    std::reverse(lanes.begin(), lanes.end());
    if (count > 1 && !perform(schedule::Reorder{stage, lanes})) return false;
    return perform(schedule::Bind{stage, writer_.fused(stage, lanes), "thread.x"});
  }

  LaunchWriter& writer_;
  const LanePlace& place_;
};

}  // namespace

bool reduce_by_lanes(LaunchWriter& writer, const std::string& reduction, std::int64_t lanes,
                     const LanePlace& place) {
  return LaneWriter(writer, place).write(reduction, lanes);
}

}  // namespace attune::templates
