// How the launches of a whole model make room for each other (runtime::LoadedCode::launch_ways),
// chosen last of all, by timing the model as a whole: what a launch gains by itself it may cost its
// neighbours. First all launches in one way, then one launch after the other.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "compiler/model/load/input_files.h"
#include "runtime/execution/device.h"

namespace attune::whole_model {

// One number for each launch.
using WayChoice = std::vector<int>;

struct WaySearch {
  std::vector<int> counts = {};  // of the ways of each launch
  std::function<Result<double>(const WayChoice&)> time_us = {};
};
struct FoundWays {
  WayChoice choice = {};
  double plain_us = 0, us = 0;  // with all launches in the first way, and as chosen
};
// Until no change of one launch gains, or time is up. What is not faster beyond doubt is plain.
Result<FoundWays> search_ways(const WaySearch& search, double seconds, const Clock& clock);

// The same of an artifact, which runs in a child process.
struct ArtifactWays {
  runtime::DeviceKind::Ways ways = {};  // empty: as they are
  double plain_us = 0, us = 0;
};
Result<ArtifactWays> choose_ways(const std::string& artifact, const model::ReadInputs& inputs,
                                 double seconds);

// Whether launches of this kind of device have a choice.
bool leaves_choice(std::string_view device);
// Writes the artifact with other ways.
Status write_with_ways(const std::string& artifact, const runtime::DeviceKind::Ways& ways,
                       const std::string& to);

}  // namespace attune::whole_model
