#include "compiler/model/schedules/schedules.h"

#include <algorithm>

#include "tuner/tunings/tunings.h"

namespace attune::model {
namespace {

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

}  // namespace

std::string_view name_of(Origin origin) {
  switch (origin) {
    case Origin::File:
      return "given";
    case Origin::Record:
      return "recorded";
    case Origin::Shipped:
      return "shipped";
    case Origin::Default:
      return "default";
    case Origin::Plain:
      break;
  }
  return "plain";
}

Schedule recorded_schedule(schedule::Trace trace) {
  Schedule schedule{.trace = std::move(trace), .origin = Origin::Record};
  if (schedule.trace.empty()) return schedule;
  if (const auto* step = std::get_if<schedule::Algorithm>(&schedule.trace.front())) {
    schedule.algorithm = step->name;
  }
  return schedule;
}

const ir::Program* program_of(const graph::Task& task, const std::string& algorithm) {
  if (algorithm == "direct") return &task.op.program;
  for (const ops::AlgorithmDef& other : task.op.alternatives) {
    if (other.name == algorithm) return &other.program;
  }
  return nullptr;
}

const ir::Program* program_of(const graph::Task& task, const std::string& algorithm,
                              const Algorithms& allowed) {
  return allowed.allow(algorithm) ? program_of(task, algorithm) : nullptr;
}

Schedule default_schedule(const graph::Task& task, const target::Target& target,
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

}  // namespace attune::model
