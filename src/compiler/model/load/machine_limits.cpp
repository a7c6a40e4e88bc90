#include "compiler/model/load/machine_limits.h"

#include <fmt/format.h>

#include "runtime/execution/affinity.h"
#include "targets/kinds.h"
#include "tuner/measure/probe/machine.h"

namespace attune::model {

Status check_runs_here(const target::Target& target) {
  return check_runs_on(target, static_cast<int>(runtime::allowed_cores().size()));
}

Status check_runs_on(const target::Target& target, int cores) {
  ATTUNE_RETURN_IF_ERROR(targets::kind_of(target).check_runs_here(target));
  return check_threads(target.threads, cores);
}

Status check_threads(int threads) {
  return check_threads(threads, static_cast<int>(runtime::allowed_cores().size()));
}

Status check_threads(int threads, int cores) {
  if (threads <= cores) return {};
  return invalid(fmt::format("{} threads are asked for, but this process may use {} {}", threads,
                             cores, cores == 1 ? "core" : "cores"),
                 fmt::format("choose --threads {} or fewer", cores));
}

Status check_fits_memory(const LoadedModel& model, Purpose purpose) {
  const double bytes = purpose == Purpose::Tune ? model.tune_bytes : model.run_bytes;
  const auto memory = static_cast<double>(probe::describe_machine().memory_bytes);
  constexpr double kGib = 1 << 30;
  if (memory <= 0 || bytes <= memory) return {};
  return Error{ErrorCode::Exhausted,
               fmt::format("{} {} needs about {:.1f} GiB of memory, this machine has {:.1f} GiB",
                           purpose == Purpose::Tune ? "tuning" : "running", model.name,
                           bytes / kGib, memory / kGib),
               "choose smaller sizes"};
}

}  // namespace attune::model
