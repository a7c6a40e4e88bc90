#include "compiler/kernel/foreign_steps.h"

#include <fmt/format.h>

#include "base/match.h"

namespace attune::kernel {
namespace {

// What programs for the target would have to run on; empty when they do.
std::string_view missing_for(const schedule::Step& step, const target::Target& target) {
  const bool launched = target.launch.are_there();
  const std::string_view blocks = launched ? "" : "blocks and threads";
  return std::visit(
      Match{
          [&](const schedule::Bind&) { return blocks; },
          [&](const schedule::Tensorize&) {
            return launched ? std::string_view() : "the tensor instructions of a device";
          },
          [&](const schedule::SetScope& x) { return x.scope == "shared" ? blocks : ""; },
          [&](const schedule::Parallel&) {
            return target.parallel_loops ? std::string_view() : "cores that share a loop";
          },
          [](const auto&) { return std::string_view(); },
      },
      step);
}

}  // namespace

Status check_own_steps(const schedule::Trace& trace, const target::Target& target) {
  for (std::size_t i = 0; i < trace.size(); ++i) {
    const std::string_view missing = missing_for(trace[i], target);
    if (missing.empty()) continue;
    return invalid(
        fmt::format("line {} of the trace: '{}' is for {}, which programs for '{}' do "
                    "not run on",
                    i + 1, schedule::to_string(trace[i]), missing, target.kind),
        "the schedule is for another kind of target; leave it out, or tune for this one");
  }
  return {};
}

}  // namespace attune::kernel
