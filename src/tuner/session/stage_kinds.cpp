#include "tuner/session/stage_kinds.h"

#include <algorithm>

namespace attune::session {
namespace {

constexpr Resource kHost = Resource::HostCores, kDevice = Resource::Device;
constexpr Workload kBuilds = Workload::Building, kLearns = Workload::Learning,
                   kMeasures = Workload::Measuring;

constexpr StageKindInfo kKinds[] = {
    {"init", kHost, kLearns, Forecast::Beginnings, 0.1},
    {"select", kHost, kLearns, Forecast::Batches, 0.2},
    {"build", kHost, kBuilds, Forecast::Batches, 1.0},
    {"profile", kDevice, kMeasures, Forecast::Batches, 0.5},
    {"update", kHost, kLearns, Forecast::Batches, 0.2},
    {"confirm", kDevice, kMeasures, Forecast::Winners, 0.3},
    // Besides sessions.
    {"peak", kDevice, kMeasures, Forecast::None, 0.2},
    {"load", kHost, kBuilds, Forecast::None, 1.0},
    {"prepare", kHost, kBuilds, Forecast::None, 0.5},
    {"history", kHost, kLearns, Forecast::None, 0.5},
    {"compile", kHost, kBuilds, Forecast::Models, 2.0, "compiling the model"},
    {"layouts", kDevice, kMeasures, Forecast::None, 2.0, "choosing layouts"},
    {"inside", kDevice, kMeasures, Forecast::None, 3.0, "timing kernels inside the model"},
    {"race", kDevice, kMeasures, Forecast::Models, 1.5, "comparing the whole models"},
    {"ways", kDevice, kMeasures, Forecast::None, 3.0, "choosing how launches overlap"},
};

static_assert(kKinds[static_cast<std::size_t>(StageKind::Init)].name == "init" &&
              kKinds[static_cast<std::size_t>(StageKind::Confirm)].name == "confirm" &&
              std::size(kKinds) >= kStageKinds);

}  // namespace

std::span<const StageKindInfo> stage_kinds() { return kKinds; }

const StageKindInfo* find_stage_kind(std::string_view name) {
  const auto found = std::ranges::find(kKinds, name, &StageKindInfo::name);
  return found == std::end(kKinds) ? nullptr : found;
}

std::string_view name_of(StageKind kind) { return kKinds[static_cast<std::size_t>(kind)].name; }

Resource resource_of(const Stage& stage) {
  return kKinds[static_cast<std::size_t>(stage.kind)].resource;
}

}  // namespace attune::session
