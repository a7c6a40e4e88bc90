// A loop of independent fused multiply-adds on registers, with the widest vectors this machine has:
// what a core can compute at most, and a steady load for the sentinel.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace attune::probe {

struct FmaLoop {
  std::string_view name;  // "avx512", "avx2", "generic"
  int vector_bytes;
  double flops_per_round;  // f32 operations, a multiply-add counts as two
  // Returns a number that depends on all the work, so that none of it can be left out.
  float (*run)(std::int64_t rounds);
  // One multiply-add a round, a factor of which is the result of the one before.
  float (*run_chain)(std::int64_t rounds);
};

// Those this machine can run, widest first; never empty.
std::vector<FmaLoop> fma_loops();

}  // namespace attune::probe
