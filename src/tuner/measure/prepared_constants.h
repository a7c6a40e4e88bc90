// Prepared constants: what prepare kernels made of the constant inputs, kept for the candidates
// that need the same. The kernels run in the measuring child, where they can do no harm.
#pragma once

#include <cstdint>
#include <list>
#include <utility>
#include <variant>
#include <vector>

#include "base/result.h"
#include "tuner/measure/probe/runner.h"
#include "tuner/measure/runner.h"

namespace attune::measure {

// A kernel with its buffers for the child; `prepared` are the contents of its Prepared parameters,
// or empty when they are what it writes.
probe::Candidate candidate_of(const KernelCode& code, int threads, std::uint64_t seed,
                              const std::vector<probe::Bytes>& prepared, bool rotate_constants);

class PreparedConstants {
 public:
  explicit PreparedConstants(std::int64_t limit_bytes) : limit_bytes_(limit_bytes) {}

  // The buffers that the candidate's prepare kernel writes, in order, or why there are none.
  Result<std::variant<std::vector<probe::Bytes>, runtime::Outcome>> of(
      const BuiltCandidate& candidate, std::uint64_t seed, double timeout_ms,
      probe::Runner& runner);

 private:
  struct Entry {
    std::uint64_t kernel;
    std::uint64_t seed;
    std::vector<probe::Bytes> buffers;
    std::int64_t bytes;
  };
  std::int64_t limit_bytes_;
  std::int64_t held_bytes_ = 0;
  std::list<Entry> entries_;  // the most recently used first
};

}  // namespace attune::measure
