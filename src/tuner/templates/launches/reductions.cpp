// One reduction of many steps, along whatever axes: means of whole images, sums of columns, sums of
// everything. Threads of a block take steps in turns and reduce what they found in shared memory;
// where there are few results, blocks take a part of the steps each and a second launch reduces
// what they found. Neighbouring threads read neighbours, be they results or steps.
#include <algorithm>
#include <optional>
#include <set>

#include "tuner/templates/dataflow.h"
#include "tuner/templates/inlining.h"
#include "tuner/templates/launches/launches.h"
#include "tuner/templates/launches/whole_program.h"
#include "tuner/templates/program_facts.h"

namespace attune::templates {
namespace {

constexpr double kWastedWork = 60;
constexpr std::int64_t kFewestSteps = 64, kMostUnrolled = 64;

std::int64_t extents_of(const std::vector<ir::Axis>& axes) {
  std::int64_t product = 1;
  for (const ir::Axis& axis : axes) product *= axis.extent;
  return product;
}

Inlined inlined_of(const space::Subject& subject) { return inline_producers(subject, kWastedWork); }

// The one that is computed when the program runs; null where there are others or none.
const ir::Stage* reduction_of(const ir::Program& program) {
  const auto constants = constants_of(program);
  const ir::Stage* found = nullptr;
  for (const ir::Stage& stage : program.stages) {
    if (!reduces(stage) || constants.count(stage.outputs[0]) > 0) continue;
    if (found != nullptr) return nullptr;
    found = &stage;
  }
  const bool single = found != nullptr && found->outputs.size() == 1;
  return single && extents_of(found->reduce_axes) >= kFewestSteps ? found : nullptr;
}

bool fits(const space::Subject& subject) {
  const Inlined inlined = inlined_of(subject);
  const ir::Stage* stage = reduction_of(inlined.program);
  return stage != nullptr && reads_once(*stage);
}

// Whether neighbours in memory are steps, rather than results.
bool runs_along_steps(const ir::Stage& stage) {
  if (stage.axes.empty()) return true;
  return strides_of(stage, stage.axes.back().name).contiguous == 0;
}

std::vector<space::Knob> knobs(const space::Subject& subject, const target::Target& target) {
  const Inlined inlined = inlined_of(subject);
  const ir::Stage& stage = *reduction_of(inlined.program);
  const std::int64_t steps = extents_of(stage.reduce_axes);
  std::vector<std::int64_t> lanes{1}, groups, splits;
  // A single result has no loop that its threads could meet at.
  if (!stage.axes.empty()) splits.push_back(1);
  if (!runs_along_steps(stage)) {
    for (const std::int64_t count : {4, 8, 16, 32, 64, 128}) {
      if (count < 2 * stage.axes.back().extent) lanes.push_back(count);
    }
  }
  for (const std::int64_t count : {1, 2, 4, 8, 16, 32, 64, 128, 256}) {
    if (count <= steps && count <= target.launch.threads_per_block) groups.push_back(count);
  }
  for (const std::int64_t count : {2, 4, 8, 16, 32, 64, 128}) {
    if (splits.empty() || count * kFewestSteps <= steps) splits.push_back(count);
  }
  return {space::choice_of("lanes", lanes), space::choice_of("groups", groups),
          space::choice_of("splits", splits), space::choice_of("steps", {4, 1, 2, 8})};
}

space::Settings default_values(const space::Subject& subject, const target::Target& target) {
  const Inlined inlined = inlined_of(subject);
  const ir::Stage& stage = *reduction_of(inlined.program);
  const bool along = runs_along_steps(stage);
  const std::int64_t lanes = along ? 1 : std::min<std::int64_t>(32, stage.axes.back().extent);
  const std::int64_t blocks = std::max<std::int64_t>(1, extents_of(stage.axes) / lanes);
  std::int64_t splits = 1;
  while (splits < 128 && 2 * splits * blocks <= target.launch.multiprocessors &&
         extents_of(stage.reduce_axes) / splits >= 4096) {
    splits *= 2;
  }
  const std::int64_t part = extents_of(stage.reduce_axes) / splits;
  std::int64_t groups = 1;
  while (2 * groups <= std::min(256 / lanes, part)) groups *= 2;
  return {{"lanes", {{lanes}}}, {"groups", {{groups}}}, {"splits", {{splits}}}, {"steps", {{4}}}};
}

std::optional<std::string> reject(const space::Subject& subject, const target::Target& target,
                                  const space::Values& values) {
  const Inlined inlined = inlined_of(subject);
  const std::int64_t steps = extents_of(reduction_of(inlined.program)->reduce_axes);
  if (values["lanes"] * values["groups"] > target.launch.threads_per_block) {
    return "too many threads in a block";
  }
  const std::int64_t part = (steps + values["splits"] - 1) / values["splits"];
  if (part * (values["splits"] - 1) >= steps || values["groups"] > part) {
    return "groups without work";
  }
  return std::nullopt;
}

class ReductionWriter {
 public:
  ReductionWriter(LaunchWriter& writer, const space::Values& values, bool along_steps)
      : writer_(writer), values_(values), along_steps_(along_steps) {}

  // `host` reads `sum` where it is; "": it is stored by itself.
  bool write(const std::string& host, const std::string& sum) {
    if (values_["splits"] == 1) return share(host, sum);
    const std::string all = writer_.fused(sum, writer_.loops(sum, true));
    const std::int64_t steps = extents_of(writer_.stage(sum).stage.reduce_axes);
    const std::int64_t part = (steps + values_["splits"] - 1) / values_["splits"];
    if (!perform(schedule::Split{sum, all, {part}}) ||
        !perform(schedule::Rfactor{sum, all + ".0"})) {
      return false;
    }
    const std::string partial = "rf." + sum;
    return add_up(host, sum) && share("", partial);
  }

 private:
  bool perform(const schedule::Step& step) { return writer_.perform(step); }

  // What blocks found, by the threads that store it.
  bool add_up(const std::string& host, const std::string& sum) {
    constexpr std::int64_t kThreads = 64;
    const std::string& stored = host.empty() ? sum : host;
    const schedule::Names axes = writer_.loops(stored, false);
    if (axes.empty()) return unroll_steps(sum);
    const std::string all = writer_.fused(stored, axes);
    if (!perform(schedule::Split{stored, all, {kThreads}}) ||
        !perform(schedule::Bind{stored, all + ".0", "block.x"}) ||
        !perform(schedule::Bind{stored, all + ".1", "thread.x"})) {
      return false;
    }
    return host.empty() || (perform(schedule::ComputeAt{sum, host, all + ".1"}) &&
                            perform(schedule::SetScope{sum, "register"}) && unroll_steps(sum));
  }

  bool unroll_steps(const std::string& sum) {
    for (const std::string& loop : writer_.loops(sum, true)) {
      if (extents_of(writer_.stage(sum).stage.reduce_axes) > kMostUnrolled) break;
      if (!perform(schedule::Unroll{sum, loop})) return false;
    }
    return true;
  }

  // Threads of a block share the steps of some results.
  bool share(std::string host, std::string sum) {
    if (host.empty()) {
      if (!perform(schedule::CacheWrite{sum})) return false;
      host = sum;
      sum = "cache." + sum;
    }
    schedule::Names axes = writer_.loops(host, false);
    if (axes.empty()) return false;
    const std::string last = axes.back(), results = along_steps_ ? "thread.y" : "thread.x";
    if (!perform(schedule::Split{host, last, {values_["lanes"]}})) return false;
    axes.back() = last + ".0";
    const std::string blocks = writer_.fused(host, axes);
    const std::string steps = writer_.fused(sum, writer_.loops(sum, true));
    // Neighbouring threads take neighbouring steps where those lie side by side, ranges otherwise.
    const std::int64_t all = extents_of(writer_.stage(sum).stage.reduce_axes);
    const std::int64_t groups = values_["groups"];
    const std::int64_t inner = along_steps_ ? groups : (all + groups - 1) / groups;
    if (!perform(schedule::Bind{host, blocks, "block.x"}) ||
        !perform(schedule::Bind{host, last + ".1", results}) ||
        !perform(schedule::Split{sum, steps, {inner}}) ||
        !perform(schedule::Rfactor{sum, steps + (along_steps_ ? ".1" : ".0")})) {
      return false;
    }
    const std::string partial = "rf." + sum;
    return perform(schedule::ComputeAt{sum, host, last + ".1"}) &&
           perform(schedule::SetScope{sum, "register"}) && unroll_steps(sum) &&
           perform(schedule::ComputeAt{partial, host, blocks}) &&
           perform(schedule::SetScope{partial, "shared"}) && place_partial(partial);
  }

  bool place_partial(const std::string& partial) {
    schedule::Names axes = writer_.loops(partial, false);
    const std::string group = axes.back(), result = axes[axes.size() - 2];
    const std::string steps = writer_.loops(partial, true).front();
    return perform(schedule::Bind{partial, group, along_steps_ ? "thread.x" : "thread.y"}) &&
           perform(schedule::Bind{partial, result, along_steps_ ? "thread.y" : "thread.x"}) &&
           perform(schedule::Split{partial, steps, {values_["steps"]}}) &&
           (values_["steps"] == 1 || perform(schedule::Unroll{partial, steps + ".1"}));
  }

  LaunchWriter& writer_;
  const space::Values& values_;
  const bool along_steps_;
};

space::Written trace(const space::Subject& subject, const target::Target& target,
                     const space::Values& values) {
  const Inlined inlined = inlined_of(subject);
  const ir::Stage& stage = *reduction_of(inlined.program);
  const ir::Stage* host = host_of(inlined.program, stage);
  LaunchWriter writer(subject, inlined.steps, target.launch);
  std::set<std::string> done;
  const bool written = writer.together([&] {
    ReductionWriter reduction(writer, values, runs_along_steps(stage));
    return reduction.write(host != nullptr ? host->name : "", stage.name);
  });
  if (written) {
    done.insert(stage.name);
    if (host != nullptr) done.insert(host->name);
  }
  write_others(writer, inlined.program, done,
               {.tiling = {.threads_y = 1, .tile_y = 1, .threads_x = 64, .tile_x = 1},
                .threads = 128,
                .per_thread = 1});
  return writer.take();
}

}  // namespace

space::Template launch_reductions() {
  return {"reductions", fits, knobs, trace, default_values, reject};
}

}  // namespace attune::templates
