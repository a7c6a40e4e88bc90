#include "tuner/measure/builder/build_candidate.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/clock.h"
#include "base/hash.h"
#include "compiler/ir/text/print.h"
#include "compiler/kernel/kernel.h"

namespace attune::builder {
namespace {

using measure::KernelCode;

std::uint64_t id_of(const ir::Kernel& loops, const target::Target& target) {
  return hash_bytes(ir::to_string(loops), hash_bytes(target::to_string(target)));
}

// As the device loads it.
Result<std::shared_ptr<const KernelCode>> code_of(kernel::Kernel kernel,
                                                  const target::Target& target, std::uint64_t id) {
  auto code = std::make_shared<KernelCode>();
  ATTUNE_ASSIGN(std::vector<std::byte> linked, kernel::link(std::span(&kernel.object, 1), target));
  code->object = std::make_shared<const std::vector<std::byte>>(std::move(linked));
  code->symbol = std::move(kernel.object.entry.symbol);
  code->parameters = std::move(kernel.parameters);
  code->workspace_bytes = kernel.object.entry.workspace_bytes;
  code->id = id;
  return std::shared_ptr<const KernelCode>(std::move(code));
}

Result<std::shared_ptr<const KernelCode>> build_prepare(const kernel::LoweredKernel& prepare,
                                                        const target::Target& target,
                                                        PrepareCache& cache) {
  const std::uint64_t id = id_of(prepare.loops, target);
  if (auto known = cache.find(id)) return known;
  ATTUNE_ASSIGN(kernel::Kernel compiled, kernel::compile(prepare, target));
  ATTUNE_ASSIGN(auto code, code_of(std::move(compiled), target, id));
  return cache.add(std::move(code));
}

// Ends early with whatever error when it is `late`.
Status build_into(measure::BuiltCandidate& built, const measure::BuildRequest& request,
                  const target::Target& target, const kernel::Limits& limits, PrepareCache& cache,
                  const std::function<bool()>& late) {
  kernel::BuildOptions options{.limits = limits, .late = late};
  if (request.whatever_it_costs) options.limits = {};
  ATTUNE_ASSIGN(kernel::Built made,
                kernel::build(*request.program, request.candidate.trace, target, options));
  built.codegen_ms = made.main.object.compile_ms;
  ATTUNE_ASSIGN(built.main, code_of(std::move(made.main), target,
                                    hash_bytes(to_string(request.candidate.trace))));
  if (made.lowered.prepare && !late()) {
    ATTUNE_ASSIGN(built.prepare, build_prepare(*made.lowered.prepare, target, cache));
  }
  return {};
}

}  // namespace

measure::BuiltCandidate build_candidate(const measure::BuildRequest& request,
                                        const target::Target& target, const kernel::Limits& limits,
                                        PrepareCache& prepared) {
  const SteadyClock clock;
  const std::int64_t start = clock.now_ns();
  measure::BuiltCandidate built;
  built.number = request.candidate.number;
  built.threads = std::max(1, target.threads);
  const auto elapsed_ms = [&] { return seconds_between(start, clock.now_ns()) * 1e3; };
  const bool limited = !request.whatever_it_costs && request.timeout_ms > 0;
  const auto late = [&] { return limited && elapsed_ms() > request.timeout_ms; };
  const Status status = build_into(built, request, target, limits, prepared, late);
  built.build_ms = elapsed_ms();
  if (status.ok() && !late()) return built;
  built.main = nullptr;
  built.prepare = nullptr;
  if (late()) {
    built.failure =
        outcome::TimedOut{outcome::Phase::Build, request.timeout_ms,
                          fmt::format("building takes more than {:g} ms", request.timeout_ms)};
  } else {
    built.failure = outcome::BuildFailed{outcome::Phase::Build, status.error().message};
  }
  return built;
}

}  // namespace attune::builder
