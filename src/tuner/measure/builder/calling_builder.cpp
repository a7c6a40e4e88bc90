#include "tuner/measure/builder/calling_builder.h"

#include <algorithm>
#include <atomic>
#include <thread>
#include <utility>

#include "compiler/kernel/kernel.h"
#include "runtime/execution/usable_cores.h"
#include "tuner/measure/builder/reference.h"

namespace attune::builder {

CallingBuilder::CallingBuilder(target::Target target, kernel::Limits limits)
    : target_(std::move(target)), limits_(limits) {}

std::vector<measure::BuiltCandidate> CallingBuilder::build(
    std::span<const measure::BuildRequest> requests) {
  std::vector<measure::BuiltCandidate> built(requests.size());
  std::atomic<std::size_t> next = 0;
  const auto work = [&] {
    for (std::size_t i = next++; i < requests.size(); i = next++) {
      built[i] = build_candidate(requests[i], target_, limits_, prepared_);
    }
  };
  const std::size_t most = std::min(runtime::usable_cores().size(), requests.size());
  std::vector<std::thread> others;  // on the same cores as this one
  for (std::size_t i = 1; i < most; ++i) others.emplace_back(work);
  work();
  for (std::thread& other : others) other.join();
  return built;
}

Result<measure::Expectation> CallingBuilder::expect(const ir::Program& program,
                                                    std::uint64_t seed) {
  return reference_of(program, seed);
}

}  // namespace attune::builder
