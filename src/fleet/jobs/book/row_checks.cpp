#include "fleet/jobs/book/row_checks.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "fleet/jobs/book/checks.h"
#include "fleet/jobs/book/number_limits.h"
#include "fleet/wire/limits.h"

namespace attune::jobs {
namespace {

bool is_moment(double seconds) { return is_within(seconds, kLatestSecond); }

Error damaged_job(const JobRow& row, std::string_view what) {
  return {ErrorCode::Corrupt, fmt::format("row {} of the jobs: {}", row.number, what), {}};
}

bool is_state_of_a_row(v1::JobState state) {
  return state == v1::QUEUED || state == v1::PAUSED || state == v1::DONE || state == v1::STOPPED ||
         state == v1::CANCELLED || state == v1::FAILED;
}

// Empty: they are good.
std::string wrong_numbers(const v1::Job& job) {
  for (const double moment : {job.submitted_at(), job.started_at(), job.ended_at()}) {
    if (!is_moment(moment)) return fmt::format("{} is no time", moment);
  }
  for (const double amount : {job.attained_seconds(), job.best_ms(), job.default_ms()}) {
    if (is_within(amount, kMostAmount)) continue;
    return fmt::format("{} is no time that something took", amount);
  }
  if (job.epoch() < 0 || job.epoch() > kLastNumber) return fmt::format("epoch {}", job.epoch());
  if (job.trials() < 0) return fmt::format("{} trials", job.trials());
  const v1::Strikes& strikes = job.strikes();
  for (const int count :
       {strikes.crashed(), strikes.killed(), strikes.starved(), strikes.stuck()}) {
    if (count < 0 || count > kMostStrikes) return fmt::format("{} strikes", count);
  }
  for (const std::int64_t done : job.stages_done()) {
    if (done < 0 || done > kMostStagesDone) return fmt::format("{} stages are done", done);
  }
  return {};
}

std::string wrong_stage(const v1::Job& job, const v1::HeldStage& held) {
  if (held.kind() < 0 || held.kind() >= job.kinds_size()) {
    return fmt::format("it holds a stage of kind {}, there are {}", held.kind(), job.kinds_size());
  }
  if (held.stage() < 0 || !is_moment(held.ready_at()) || !is_moment(held.started_at())) {
    return fmt::format("it holds a stage {} from {}", held.stage(), held.started_at());
  }
  if (held.slots().empty() || held.slots_size() > kMostUnits) {
    return fmt::format("it holds {} units for one stage", held.slots_size());
  }
  for (const int slot : held.slots()) {
    if (slot < 0 || slot > kLastUnit) return fmt::format("it holds unit {}", slot);
  }
  return {};
}

std::string wrong_hold(const v1::Job& job) {
  if (job.hold().secret().size() > wire::kLongestSecret) return "its secret is too long";
  std::set<std::int64_t> numbers;
  for (const v1::HeldStage& held : job.hold().stages()) {
    if (std::string wrong = wrong_stage(job, held); !wrong.empty()) return wrong;
    if (!numbers.insert(held.stage()).second) {
      return fmt::format("it holds stage {} twice", held.stage());
    }
  }
  return {};
}

}  // namespace

Status check_row(const JobRow& row) {
  const v1::Job& job = row.job;
  if (row.number < 1 || row.number > kLastNumber || job.id() != fmt::format("j{}", row.number)) {
    return damaged_job(row, fmt::format("its job is '{}'", job.id().substr(0, 20)));
  }
  if (!is_state_of_a_row(job.state())) {
    return damaged_job(row, fmt::format("its state is {}", static_cast<int>(job.state())));
  }
  if (row.wish && *row.wish != v1::STOP && *row.wish != v1::CANCEL) {
    return damaged_job(row, fmt::format("its wish is {}", static_cast<int>(*row.wish)));
  }
  if (const std::string wrong = wrong_numbers(job); !wrong.empty()) return damaged_job(row, wrong);
  if (const Status status = check_names(job.spec()); !status.ok()) {
    return damaged_job(row, status.error().message);
  }
  if (job.state() >= v1::DONE) return {};
  for (const Status& status : {check_numbers(job.spec()), check_kind_numbers(job.kinds())}) {
    if (!status.ok()) return damaged_job(row, status.error().message);
  }
  if (job.spec().priority() <= 0 || job.spec().prefetch() < 1) {
    return damaged_job(row, fmt::format("its priority is {}, it has {} batches in flight",
                                        job.spec().priority(), job.spec().prefetch()));
  }
  if (const std::string wrong = wrong_hold(job); !wrong.empty()) return damaged_job(row, wrong);
  return {};
}

Status check_row(const StageRow& row) {
  const auto damaged = [&](std::string_view what) {
    return Error{
        ErrorCode::Corrupt,
        fmt::format("stage {} of job '{}': {}", row.stage, row.bar.job().substr(0, 20), what),
        {}};
  };
  for (const double moment : {row.bar.ready_at(), row.bar.started_at(), row.bar.ended_at()}) {
    if (!is_moment(moment)) return damaged(fmt::format("{} is no time", moment));
  }
  if (row.epoch < 0 || row.epoch > kLastNumber) return damaged(fmt::format("epoch {}", row.epoch));
  if (row.stage < 0) return damaged("stages are numbered from 0");
  if (!v1::StageEnd_IsValid(row.end)) return damaged(fmt::format("it ended as {}", int{row.end}));
  const auto& slots = row.bar.slots();
  const bool good =
      slots.size() <= kMostUnits &&
      std::all_of(slots.begin(), slots.end(), [](int s) { return s >= 0 && s <= kLastUnit; });
  if (!good) return damaged("its units are none");
  return {};
}

Status check_rows(const std::vector<JobRow>& rows) {
  std::map<std::pair<std::string, int>, std::string> holders;  // of units
  for (const JobRow& row : rows) {
    if (row.job.state() >= v1::DONE) continue;
    for (const v1::HeldStage& held : row.job.hold().stages()) {
      const std::string& pool = row.job.kinds(held.kind()).pool();
      for (const int slot : held.slots()) {
        const auto [place, is_free] = holders.emplace(std::pair(pool, slot), row.job.id());
        if (is_free) continue;
        return damaged_job(row, fmt::format("it holds unit {} of '{}', which job '{}' holds", slot,
                                            pool.substr(0, 40), place->second));
      }
    }
  }
  return {};
}

}  // namespace attune::jobs
