// What a device with blocks and threads has, as schedules and predictions ask for it. Its target's
// facts state it, or read it off the device that is here.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace attune::target {

// A tensor intrinsic that the device runs, and how fast.
struct MatrixUnit {
  std::string_view intrinsic;  // its name
  double fmas_per_cycle = 0;   // of a multiprocessor
};

struct LaunchFacts {
  std::int64_t multiprocessors = 0;  // 0: the target has no blocks and threads
  std::int64_t warp = 32;            // threads that run in step
  std::int64_t threads_per_block = 1024;
  std::int64_t shared_bytes = 48 << 10;  // of a block
  std::int64_t register_bytes = 1020;    // of a thread
  // Of a multiprocessor.
  std::int64_t resident_threads = 2048, resident_blocks = 16;
  std::int64_t resident_shared_bytes = 96 << 10, resident_register_bytes = 256 << 10;

  double ghz = 1;
  double fmas_per_cycle = 32;  // of f32, of a multiprocessor
  // All multiprocessors together, GB/s.
  double l2_bandwidth = 500, dram_bandwidth = 100;
  std::int64_t l2_bytes = 4 << 20;
  double global_latency_ns = 500, barrier_ns = 20;
  double launch_us = 1;  // of a kernel that returns at once

  std::vector<MatrixUnit> matrix_units = {};

  // Whether programs are launches of blocks and threads at all.
  bool are_there() const { return multiprocessors > 0; }
};

}  // namespace attune::target
