#include "tuner/templates/launches/spread_sum.h"

namespace attune::templates {
namespace {

constexpr std::int64_t kThreads = 128, kMostUnrolled = 64;

}  // namespace

bool spread_sum(LaunchWriter& writer, const std::string& host, const std::string& sum) {
  const ir::Stage& stage = writer.stage(host).stage;
  const std::int64_t vector = 16 / std::max<std::int64_t>(1, stage.outputs[0]->type.bytes());
  schedule::Names axes = writer.loops(host, false);
  const bool vectors = vector > 1 && stage.axes.back().extent % vector == 0;
  const std::string last = axes.back();
  if (vectors) {
    if (!writer.perform(schedule::Split{host, last, {vector}})) return false;
    axes.back() = last + ".0";
  }
  const std::string all = writer.fused(host, axes);
  if (!writer.perform(schedule::Split{host, all, {kThreads}}) ||
      !writer.perform(schedule::Bind{host, all + ".0", "block.x"}) ||
      !writer.perform(schedule::Bind{host, all + ".1", "thread.x"}) ||
      !writer.perform(schedule::ComputeAt{sum, host, all + ".1"}) ||
      !writer.perform(schedule::SetScope{sum, "register"})) {
    return false;
  }
  if (vectors && !writer.perform(schedule::Vectorize{host, last + ".1"})) return false;
  const ir::Stage& parts = writer.stage(sum).stage;
  schedule::Names order = writer.loops(sum, true);
  const bool few = parts.reduce_axes[0].extent <= kMostUnrolled;
  for (const std::string& loop : order) {
    if (few && !writer.perform(schedule::Unroll{sum, loop})) return false;
  }
  const schedule::Names own = writer.loops(sum, false);
  order.insert(order.end(), own.begin(), own.end());
  if (!writer.perform(schedule::Reorder{sum, order})) return false;
  return true;
}

}  // namespace attune::templates
