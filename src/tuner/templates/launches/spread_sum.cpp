#include "tuner/templates/launches/spread_sum.h"

namespace attune::templates {
namespace {

constexpr std::int64_t kThreads = 128, kMostUnrolled = 64;

// All parts of a thread's elements are under way together.
bool read_at_once(LaunchWriter& writer, const std::string& sum, std::int64_t vector) {
  schedule::Names order = writer.loops(sum, true);
  if (writer.stage(sum).stage.reduce_axes[0].extent > kMostUnrolled) return true;
  const auto extents = writer.axes(sum);
  if (!extents) return false;
  const schedule::Names own = writer.loops(sum, false);
  order.insert(order.end(), own.begin(), own.end());
  if (!writer.perform(schedule::Reorder{sum, order})) return false;
  for (std::size_t i = 0; i < order.size(); ++i) {
    const bool last = i + 1 == order.size();
    const bool lanes = last && vector > 1 && (*extents)[own.size() - 1] == vector;
    const schedule::Step step = lanes ? schedule::Step(schedule::Vectorize{sum, order[i]})
                                      : schedule::Step(schedule::Unroll{sum, order[i]});
    if (!writer.perform(step)) return false;
  }
  return true;
}

}  // namespace

bool spread_sum(LaunchWriter& writer, const std::string& host, const std::string& sum) {
  const ir::Stage stage = writer.stage(host).stage;
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
  return read_at_once(writer, sum, vectors ? vector : 1);
}

}  // namespace attune::templates
