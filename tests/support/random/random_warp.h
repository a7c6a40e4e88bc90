// Random products by matrix instructions of warps: types, tiles, warps, layouts in shared memory
// and pipelines vary.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/rng.h"
#include "compiler/schedule/trace.h"

namespace attune::test {

struct WarpCase {
  std::string program, trace;
  std::string intrinsic;
};
WarpCase random_warp_product(Rng& rng);

struct WarpCounts {
  std::int64_t agreed = 0;
  std::int64_t halves = 0, tf32 = 0;  // of these
  std::int64_t pipelined = 0;
  std::vector<std::string> failures;
};
// Cases from `seed` on, each made from its seed alone, until `wanted` agreed or something failed.
// Results must be those of the plain program, of inputs rounded as the intrinsic declares: bit by
// bit where all sums are exact, nearly where they are not.
WarpCounts compare_random_warps(std::uint64_t seed, std::int64_t wanted);

}  // namespace attune::test
