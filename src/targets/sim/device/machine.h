// The simulated device: a small machine with multiprocessors that run blocks, warps of threads that
// run in step, shared memory in banks and global memory in segments. Its times are counted, not
// measured: the same kernel takes the same cycles everywhere, so that tuning for it can be
// repeated. It is no model of any real device; it rewards what real ones reward.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace attune::sim {

struct Machine {
  // Attributes of the target's text.
  std::int64_t multiprocessors = 4;
  std::int64_t shared_kb = 48;  // of one block; a multiprocessor has twice as much
  std::int64_t warp = 32;       // threads
  std::int64_t threads_per_block = 1024;
  std::int64_t register_bytes = 1024;  // of a thread
  std::int64_t clock_mhz = 1000;

  // The rest is the same for all of them.
  std::int64_t stack_bytes = 64 << 10;                         // of a thread
  std::int64_t resident_threads = 2048, resident_blocks = 16;  // of a multiprocessor
  std::int64_t segment_bytes = 128;
  std::int64_t banks = 32, bank_bytes = 4;
  // Cycles: in which a warp keeps its multiprocessor busy, and in which it waits.
  std::int64_t costly_cycles = 8;   // a division or a mathematical function; others take 1
  std::int64_t segment_cycles = 8;  // each segment of global memory that a warp touches at once
  std::int64_t stack_cycles = 4;    // each access to a thread's stack
  std::int64_t global_latency = 200, shared_latency = 20;
  std::int64_t barrier_cycles = 16;
  std::int64_t launch_cycles = 1000;
  std::int64_t transfer_bytes_per_cycle = 16;
};

// An attribute of the text form, with the numbers that it may be.
struct Attribute {
  std::string_view name;
  std::int64_t Machine::*field;
  std::int64_t least, most;
};
const std::vector<Attribute>& attributes();

// "-multiprocessors=4 -shared_kb=48 …", attributes that differ from the usual ones, in the order of
// the list.
std::string to_string(const Machine& machine);
Result<Machine> parse_machine(std::string_view text);

}  // namespace attune::sim
