// How any stage is spread over blocks and threads: element by element, or, where it reduces, in
// tiles of registers whose operands the threads of a block fetch together.
#pragma once

#include "tuner/templates/launches/launch_writer.h"

namespace attune::templates {

// How threads share the work of a reduction: each computes a tile in registers, and those of a
// block fetch what they read together, `chunk` steps of the reduction at a time.
struct Tiling {
  std::int64_t threads_y = 1, tile_y = 1;
  std::int64_t threads_x = 1, tile_x = 1;
  std::int64_t chunk = 1;
  bool shared = true;
};

// One element after the other: neighbours go to neighbouring threads, each takes `per_thread`.
void spread(LaunchWriter& writer, const std::string& stage, std::int64_t threads,
            std::int64_t per_thread);
// The reduction in registers, computed where `host` reads it, element by element.
void tile(LaunchWriter& writer, const std::string& host, const std::string& reduction,
          const Tiling& tiling);
// The same for a reduction that is read elsewhere, or is an output.
void tile(LaunchWriter& writer, const std::string& reduction, const Tiling& tiling);

}  // namespace attune::templates
