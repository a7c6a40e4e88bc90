// All kinds of stages of a tuning run, once: those of a session, in the order of StageKind, and the
// steps that a run takes besides, such as compiling the whole model. What a scheduler is told of a
// stage, what calibration takes it for and what a person reads of it are columns of this table. A
// new kind is one line in stage_kinds.cpp.
#pragma once

#include <span>
#include <string_view>

#include "tuner/session/session.h"

namespace attune::session {

// What a stage resembles where its effect on others is measured.
enum class Workload : std::uint8_t { Building, Learning, Measuring };

// What says how many stages of a kind are to come.
enum class Forecast : std::uint8_t { None, Beginnings, Batches, Winners, Models };

struct StageKindInfo {
  std::string_view name;
  Resource resource = Resource::HostCores;
  Workload workload = Workload::Building;
  Forecast forecast = Forecast::None;
  double usual_seconds = 1;     // before anything was observed
  std::string_view doing = {};  // for people; empty: its name
};

std::span<const StageKindInfo> stage_kinds();
// Null when there is none of this name.
const StageKindInfo* find_stage_kind(std::string_view name);

}  // namespace attune::session
