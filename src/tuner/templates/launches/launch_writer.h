// Writing schedules for blocks and threads: every step is performed as it is written, so that what
// comes next can ask for loops and bounds, and a few steps together can be taken back.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "compiler/schedule/bounds.h"
#include "compiler/schedule/trace.h"
#include "compiler/target/launch_facts.h"
#include "tuner/space/template.h"

namespace attune::templates {

class LaunchWriter {
 public:
  LaunchWriter(const space::Subject& subject, const schedule::Trace& begun,
               const target::LaunchFacts& device);

  const target::LaunchFacts& device() const { return device_; }
  const schedule::State& state() const { return state_; }
  bool has(const std::string& stage) const { return state_.find(stage) >= 0; }
  const schedule::StageState& stage(const std::string& name) const;
  schedule::Names loops(const std::string& stage, bool reduce) const;
  // How many elements of each axis are computed where the stage is placed; nothing while the
  // schedule makes no sense.
  std::optional<schedule::Extents> axes(const std::string& stage) const;

  bool perform(const schedule::Step& step);
  // All of the steps, or none of them when one fails or the device has no room.
  bool together(const std::function<bool()>& steps);
  // The same for steps that need no room: whether there is any is not looked at.
  bool attempt(const std::function<bool()>& steps);
  // One loop of several; their name.
  std::string fused(const std::string& stage, const schedule::Names& loops);

  space::Written take() { return {std::move(trace_), std::move(state_)}; }

 private:
  bool fits_device() const;

  const target::LaunchFacts device_;
  schedule::State state_;
  schedule::Trace trace_;
  // Where steps are performed from again after one that failed half-way.
  schedule::State safe_;
  std::size_t safe_length_ = 0;
};

}  // namespace attune::templates
