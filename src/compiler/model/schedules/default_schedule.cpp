// Schedules without measuring: the usual ones, an algorithm and the default of its template, and
// what the analytic model would rather have.
#include <algorithm>
#include <bit>
#include <map>
#include <mutex>
#include <tuple>

#include "base/hash.h"
#include "compiler/model/schedules/schedules.h"
#include "tuner/cost_model/descent.h"
#include "tuner/space/template_space.h"
#include "tuner/tunings/tunings.h"

namespace attune::model {
namespace {

// What the analytic model must promise before it is believed: so much of the usual schedule's time.
constexpr double kPromise = 0.95;

std::int64_t extent_of(const ir::Stage& stage, std::string_view axis) {
  for (const std::vector<ir::Axis>* axes : {&stage.axes, &stage.reduce_axes}) {
    for (const ir::Axis& candidate : *axes) {
      if (candidate.name == axis) return candidate.extent;
    }
  }
  return 0;
}

// Multiplications of a program's anchor, and what the transforms of Winograd cost beside them.
double work_of(const ir::Program& program) {
  const ir::Stage& anchor = *program.find_stage("anchor");
  double products = 1;
  for (const std::vector<ir::Axis>* axes : {&anchor.axes, &anchor.reduce_axes}) {
    for (const ir::Axis& axis : *axes) products *= static_cast<double>(axis.extent);
  }
  const std::int64_t in = extent_of(anchor, "ic") * extent_of(anchor, "ib");
  const std::int64_t out = extent_of(anchor, "oc") * extent_of(anchor, "ob");
  const std::int64_t points = extent_of(anchor, "i") * extent_of(anchor, "j");
  return products + static_cast<double>(points * extent_of(anchor, "tile") * (6 * in + 5 * out));
}

// A strided convolution whose phases become channels: where that takes far fewer multiplications.
std::string likely_folded_algorithm(const graph::Task& task) {
  constexpr double kGain = 1.3;
  constexpr std::int64_t kFewestTiles = 8;
  std::string best = "direct";
  double least = work_of(task.op.program) / kGain;
  for (const char* name : {"winograd4", "winograd3", "winograd2"}) {
    const ir::Program* program = program_of(task, name);
    if (program == nullptr) continue;
    const double work = work_of(*program);
    if (extent_of(*program->find_stage("anchor"), "tile") < kFewestTiles || work >= least) continue;
    least = work;
    best = name;
  }
  return best;
}

// Whether seven products are the likely way: always for large matrices; for convolutions, whose
// sums are made anew by every thread or wait for each other, on one thread only.
bool likely_strassen(const ir::Program* program, const target::Target& target) {
  if (program == nullptr) return false;
  const bool is_matrix = program->find_stage("output")->axes.size() == 2;
  return is_matrix || target.threads == 1;
}

// Winograd with tiles of four pays when there are enough tiles to use each transformed weight
// several times and enough channels to use each transformed tile; with few tiles F(2) reads fewer
// weights (docs/performance.md).
std::string likely_algorithm(const graph::Task& task, const target::Target& target) {
  const ir::Stage* anchor = task.op.program.find_stage("anchor");
  if (likely_strassen(program_of(task, "strassen"), target)) return "strassen";
  if (program_of(task, "merged") != nullptr) return "merged";
  const ir::Program* other = program_of(task, "winograd2");
  if (other == nullptr) other = program_of(task, "winograd4");
  if (anchor == nullptr || other == nullptr) return "direct";
  const std::int64_t pixels = extent_of(*anchor, "oh") * extent_of(*anchor, "ow");
  const std::int64_t channels =
      extent_of(*anchor, "ic") * std::max<std::int64_t>(1, extent_of(*anchor, "ib"));
  const ir::Stage& tiled = *other->find_stage("anchor");
  if (extent_of(tiled, "ic") * extent_of(tiled, "ib") != channels) {
    return likely_folded_algorithm(task);
  }
  if (channels < 24) return "direct";
  // The phases of a transposed convolution have few taps: fewer tiles are enough.
  if (program_of(task, "packed4") != nullptr) return "packed4";
  const std::int64_t places = extent_of(*anchor, "y") * extent_of(*anchor, "x");
  if (places >= 256 && program_of(task, "winograd4") != nullptr) return "winograd4";
  if (places >= 64) return "winograd2";
  if (pixels >= 144 && program_of(task, "winograd4") != nullptr) return "winograd4";
  // Weights that stay in the cache may be many.
  const ir::Program* four = program_of(task, "winograd4");
  if (pixels >= 36 && four != nullptr) {
    const ir::Stage& products = *four->find_stage("anchor");
    const std::int64_t weights = extent_of(products, "i") * extent_of(products, "j") * channels *
                                 extent_of(products, "oc") * extent_of(products, "ob") * 4;
    if (weights < target.l2_bytes) return "winograd4";
  }
  if (pixels >= 36 && program_of(task, "winograd2") != nullptr) return "winograd2";
  return "direct";
}

// All that a default depends on besides the task.
std::uint64_t facts_of(const target::Target& target) {
  const target::Machine& m = target.machine;
  std::uint64_t h = hash_bytes(target::to_string(target));
  for (const double fact :
       {double(target.vector_bytes), double(target.vector_registers), double(target.l1_bytes),
        double(target.l2_bytes), double(target.l3_bytes), m.ghz, m.fmas_per_cycle,
        m.fma_bytes_per_cycle, m.loads_per_cycle, m.load_bytes_per_cycle, m.l2_bandwidth,
        m.l3_bandwidth, m.dram_bandwidth, m.compute_sharing, m.l3_sharing, m.dram_sharing,
        m.fork_join_us}) {
    h = hash_combine(h, std::bit_cast<std::uint64_t>(fact));
  }
  return h;
}

// The analytic model tells schedules of one algorithm apart better than algorithms, which stay.
Schedule chosen_schedule(const graph::Task& task, const target::Target& target,
                         const Algorithms& algorithms) {
  Schedule usual = usual_schedule(task, target, algorithms);
  const auto tuning = tunings::find_tuning(target);
  if (!tuning.ok()) return usual;
  const space::TemplateSpace space({{usual.algorithm, *program_of(task, usual.algorithm)}},
                                   (*tuning)->templates(), target);
  const auto scheduled = space.schedule_of(space.defaults().front());
  if (!scheduled.ok()) return usual;
  const auto model = (*tuning)->prior(target);
  const auto best = cost_model::fastest_predicted(space, *model, 1);
  if (best.empty() || best[0].us > kPromise * model->predict_us(*scheduled)) return usual;
  Schedule promised = recorded_schedule(space.trace_of(best[0].point));
  promised.origin = Origin::Default;
  promised.otherwise = std::make_shared<const Schedule>(std::move(usual));
  return promised;
}

// Several parts of a run ask for the same ones.
class Remembered {
 public:
  Schedule of(const graph::Task& task, const target::Target& target, const Algorithms& algorithms) {
    const Key key{task.key, algorithms.only, facts_of(target)};
    {
      const std::lock_guard lock(mutex_);
      if (const auto known = schedules_.find(key); known != schedules_.end()) return known->second;
    }
    Schedule chosen = chosen_schedule(task, target, algorithms);
    const std::lock_guard lock(mutex_);
    if (schedules_.size() >= kMost) schedules_.clear();
    return schedules_.emplace(key, std::move(chosen)).first->second;
  }

 private:
  using Key = std::tuple<std::string, std::string, std::uint64_t>;
  static constexpr std::size_t kMost = 4096;
  std::mutex mutex_;
  std::map<Key, Schedule> schedules_;
};

}  // namespace

Schedule usual_schedule(const graph::Task& task, const target::Target& target,
                        const Algorithms& algorithms) {
  Schedule chosen;
  if (algorithms.only.empty()) {
    chosen.algorithm = likely_algorithm(task, target);
  } else if (program_of(task, algorithms.only) != nullptr) {
    chosen.algorithm = algorithms.only;
  }
  chosen.trace = tunings::default_trace(*program_of(task, chosen.algorithm), target);
  if (chosen.algorithm != "direct") {
    chosen.trace.insert(chosen.trace.begin(), schedule::Algorithm{chosen.algorithm});
  }
  return chosen;
}

Schedule default_schedule(const graph::Task& task, const target::Target& target,
                          const Algorithms& algorithms) {
  static Remembered remembered;
  return remembered.of(task, target, algorithms);
}

}  // namespace attune::model
