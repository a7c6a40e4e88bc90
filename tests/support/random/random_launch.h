// Random schedules with blocks, threads and shared memory, and their comparison with the
// unscheduled program.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/rng.h"
#include "compiler/schedule/trace.h"
#include "tests/support/random/random_subject.h"

namespace attune::test {

// A trace whose steps are legal on the program, with at least one bound loop; empty when chance
// made none, or one that is not worth the time.
schedule::Trace random_launch_trace(Rng& rng, const ir::Program& program);

// A program and a trace as above, made from the seed alone.
struct LaunchCase {
  Subject subject;
  schedule::Trace trace;
};
LaunchCase random_launch_case(std::uint64_t seed);

struct LaunchCounts {
  std::int64_t agreed = 0;
  std::int64_t shared = 0;     // of these, with memory shared by threads
  std::int64_t barriers = 0;   // of these, with barriers
  std::int64_t pipelines = 0;  // of these, with copies that run ahead
  std::vector<std::string> failures;
};
// Cases from `seed` on, each made from its seed alone, until `wanted` agreed or something failed.
LaunchCounts compare_random_launches(std::uint64_t seed, std::int64_t wanted);

}  // namespace attune::test
