// Built candidates as the measuring child takes them.
#pragma once

#include <cstdint>

#include "tuner/measure/probe/candidate.h"
#include "tuner/measure/runner.h"

namespace attune::cpu {

// Constants that a prepare kernel computes are left to the child, which keeps them for the next
// candidate with the same kernel. `cold`: constants rotate through more memory than caches hold.
probe::Candidate probe_request(const measure::BuiltCandidate& built, std::uint64_t seed, bool cold);

}  // namespace attune::cpu
