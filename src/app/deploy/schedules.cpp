#include "app/deploy/schedules.h"

#include <algorithm>

#include "tuner/templates/templates.h"

namespace attune::deploy {
namespace {

std::int64_t extent_of(const ir::Stage& stage, std::string_view axis) {
  for (const std::vector<ir::Axis>* axes : {&stage.axes, &stage.reduce_axes}) {
    for (const ir::Axis& candidate : *axes) {
      if (candidate.name == axis) return candidate.extent;
    }
  }
  return 0;
}

// Winograd with tiles of four pays when there are enough tiles to use each transformed weight
// several times and enough channels to use each transformed tile; with few tiles F(2) reads fewer
// weights (docs/performance.md).
std::string likely_algorithm(const graph::Task& task) {
  const ir::Stage* anchor = task.op.program.find_stage("anchor");
  if (anchor == nullptr) return "direct";
  const std::int64_t pixels = extent_of(*anchor, "oh") * extent_of(*anchor, "ow");
  const std::int64_t channels = extent_of(*anchor, "ic") * extent_of(*anchor, "ib");
  if (channels < 24) return "direct";
  // Few taps of each phase of a transposed convolution: tiles of four have few points.
  if (program_of(task, "packed4") != nullptr) return "packed4";
  const std::int64_t places = extent_of(*anchor, "y") * extent_of(*anchor, "x");
  if (places >= 64 && program_of(task, "winograd4") != nullptr) return "winograd4";
  if (pixels >= 144 && program_of(task, "winograd4") != nullptr) return "winograd4";
  if (pixels >= 36 && program_of(task, "winograd2") != nullptr) return "winograd2";
  return "direct";
}

}  // namespace

std::string_view name_of(Origin origin) {
  switch (origin) {
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

const ir::Program* program_of(const graph::Task& task, const std::string& algorithm) {
  if (algorithm == "direct") return &task.op.program;
  for (const ops::AlgorithmDef& other : task.op.alternatives) {
    if (other.name == algorithm) return &other.program;
  }
  return nullptr;
}

Schedule default_schedule(const graph::Task& task, const ir::Target& target, bool exact) {
  Schedule chosen;
  if (!exact) chosen.algorithm = likely_algorithm(task);
  chosen.trace = templates::default_trace(*program_of(task, chosen.algorithm), target);
  if (chosen.algorithm != "direct") {
    chosen.trace.insert(chosen.trace.begin(), schedule::Algorithm{chosen.algorithm});
  }
  return chosen;
}

}  // namespace attune::deploy
