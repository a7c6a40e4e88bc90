// The launches of a schedule for a device with blocks and threads: how many blocks and threads each
// has, and how much memory a block and a thread of it take. Limits and predictions ask for it.
#pragma once

#include <array>
#include <string_view>
#include <vector>

#include "compiler/schedule/bounds.h"

namespace attune::space {

// Of block.y and block.z; there is no such limit on block.x.
inline constexpr std::int64_t kMostBlocks = 65535;

struct LaunchShape {
  std::size_t root = 0;  // the stage whose launch it is
  // Of block.x … thread.z; each as long as its longest loop.
  std::array<std::int64_t, 3> blocks{1, 1, 1}, threads{1, 1, 1};
  std::int64_t shared_bytes = 0;    // of a block
  std::int64_t register_bytes = 0;  // of a thread, for what stages keep there

  std::int64_t block_count() const { return blocks[0] * blocks[1] * blocks[2]; }
  std::int64_t thread_count() const { return threads[0] * threads[1] * threads[2]; }
  bool too_many_blocks() const { return blocks[1] > kMostBlocks || blocks[2] > kMostBlocks; }
};

// One for each root stage, in their order, those that are computed ahead of time included.
std::vector<LaunchShape> launch_shapes(const schedule::State& state,
                                       const std::vector<schedule::StageBounds>& bounds);

// Bytes of a stage's buffer where it is stored, its padding included.
std::int64_t storage_bytes(const schedule::StageState& stage, const schedule::StageBounds& bounds);

// Its dimension, 0 for x.
inline std::size_t dimension_of(std::string_view axis) {
  return static_cast<std::size_t>(axis.back() - 'x');
}

}  // namespace attune::space
