#include "fleet/jobs/book/strikes.h"

#include <fmt/format.h>

#include <algorithm>

#include "fleet/jobs/book/number_limits.h"

namespace attune::jobs {
namespace {

void forget(v1::Strikes& strikes) {
  strikes.clear_crashed();
  strikes.clear_killed();
  strikes.clear_starved();
  strikes.clear_stuck();
}

// Read back from a disk it may be any number.
int one_more(int count) { return std::clamp(count, 0, kMostStrikes - 1) + 1; }

std::string in_parentheses(const std::string& how) {
  return how.empty() ? "" : fmt::format(" ({})", how);
}

}  // namespace

bool count_death(v1::Strikes& strikes, const WorkerDeath& death) {
  switch (death.cause) {
    case WorkerDeath::Cause::None:
      return false;
    case WorkerDeath::Cause::Crashed:
      strikes.set_crashed(one_more(strikes.crashed()));
      strikes.set_last(fmt::format("its worker crashed{}", in_parentheses(death.how)));
      return true;
    case WorkerDeath::Cause::Killed:
      strikes.set_killed(one_more(strikes.killed()));
      strikes.set_last(fmt::format("somebody killed its worker{}", in_parentheses(death.how)));
      return true;
    case WorkerDeath::Cause::Starved:
      strikes.set_starved(one_more(strikes.starved()));
      strikes.set_last("the system killed its worker for want of memory");
      if (death.peak_bytes >= 0) {
        *strikes.mutable_last() +=
            fmt::format(", which had taken {} MB", death.peak_bytes / 1'000'000);
      }
      return true;
  }
  return false;
}

void count_stuck(v1::Strikes& strikes, const std::string& kind, double silent_seconds) {
  strikes.set_stuck(one_more(strikes.stuck()));
  strikes.set_last(
      fmt::format("its stage '{}' said nothing for {:.0f} s and was ended", kind, silent_seconds));
}

void count_too_long(v1::Strikes& strikes, const std::string& kind, double most_seconds) {
  strikes.set_stuck(one_more(strikes.stuck()));
  strikes.set_last(
      fmt::format("its stage '{}' ran for {:.0f} s, which is all that it may, and was "
                  "ended",
                  kind, most_seconds));
}

void finished_so_many(v1::Strikes& strikes, const std::string& kind, std::int64_t stages) {
  std::int64_t& most = (*strikes.mutable_reached())[kind];
  if (stages <= most) return;
  most = stages;
  forget(strikes);
}

void tried_so_many(v1::Strikes& strikes, std::int64_t trials) {
  if (trials <= strikes.trials()) return;
  strikes.set_trials(trials);
  forget(strikes);
}

// Those of one cause are judged together: a job that starves one worker and hangs the next has two
// troubles, each of which may pass.
Tries tries_of(const v1::Strikes& strikes, const StageLimits& limits) {
  const Tries all[] = {{strikes.starved(), limits.most_tries},
                       {strikes.stuck(), limits.most_tries},
                       {strikes.crashed(), limits.most_crashes},
                       {strikes.killed(), limits.most_crashes}};
  const auto share = [](const Tries& tries) { return double(tries.done) / tries.most; };
  Tries nearest{0, limits.most_tries};
  for (const Tries& tries : all) {
    if (share(tries) > share(nearest)) nearest = tries;
  }
  return nearest;
}

std::optional<std::string> why_given_up(const v1::Strikes& strikes, const StageLimits& limits) {
  const Tries tries = tries_of(strikes, limits);
  if (tries.done < tries.most) return std::nullopt;
  return fmt::format("{}; that was the last of {} tries without progress", strikes.last(),
                     tries.done);
}

}  // namespace attune::jobs
