// Writing schedules for blocks and threads: every step is performed as it is written, so that what
// comes next can ask for loops and bounds, and a few steps together can be taken back.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "compiler/schedule/trace.h"
#include "targets/sim/device/machine.h"

namespace attune::sim {

// How threads share the work of a reduction: each computes a tile in registers, and those of a
// block fetch what they read together, `chunk` steps of the reduction at a time.
struct Tiling {
  std::int64_t threads_y = 1, tile_y = 1;
  std::int64_t threads_x = 1, tile_x = 1;
  std::int64_t chunk = 1;
  bool shared = true;
};

class LaunchWriter {
 public:
  LaunchWriter(const ir::Program& program, const schedule::Trace& begun, const Machine& machine);

  // One element after the other: neighbours go to neighbouring threads, each takes `per_thread`.
  void spread(const std::string& stage, std::int64_t threads, std::int64_t per_thread);
  // The reduction in registers, computed where `host` reads it, element by element.
  void tile(const std::string& host, const std::string& reduction, const Tiling& tiling);
  // The same for a reduction that is read elsewhere, or is an output.
  void tile(const std::string& reduction, const Tiling& tiling);

  schedule::Trace take() { return std::move(trace_); }

 private:
  const schedule::StageState& stage(const std::string& name) const;
  std::vector<std::string> loops(const std::string& stage, bool reduce) const;
  bool perform(const schedule::Step& step);
  // All of the steps, or none of them when one fails or the device has no room.
  bool together(const std::function<bool()>& steps);
  bool fits_device() const;
  // One loop of several; their name.
  std::string fused(const std::string& stage, const std::vector<std::string>& loops);
  bool fetch_together(const std::string& tensor, const std::string& reader, const std::string& loop,
                      const Tiling& tiling);

  const Machine machine_;
  schedule::State state_;
  schedule::Trace trace_;
};

}  // namespace attune::sim
