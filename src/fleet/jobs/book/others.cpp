// What users may have of a book whose scheduler is another's: the limits of user_limits.h that need
// to know what a user has already.
#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "fleet/jobs/book/book.h"
#include "fleet/jobs/book/checks.h"
#include "fleet/jobs/book/user_limits.h"

namespace attune::jobs {
namespace {

std::uint64_t described_bytes(const JobRow& row) {
  return row.job.spec().ByteSizeLong() + row.key.size();
}

// Wherever its report lies.
std::uint64_t reported_bytes(const JobRow& row) {
  return row.report_bytes + row.job.result_json().size();
}

}  // namespace

bool Book::is_of_another(const Entry& entry) const { return entry.row.job.uid() != options_.uid; }

void Book::count_in(const Entry& entry) {
  UserTotals& totals = totals_[entry.row.job.uid()];
  totals.described += described_bytes(entry.row);
  if (!entry.ended()) {
    totals.files += entry.row.job.files_bytes();
  } else {
    totals.reports += reported_bytes(entry.row);
  }
}

// Its files, and its report, are those of a job that ended from now on.
void Book::count_end(const Entry& entry) {
  UserTotals& totals = totals_[entry.row.job.uid()];
  totals.files -= entry.row.job.files_bytes();
  totals.reports += reported_bytes(entry.row);
}

void Book::count_out(const Entry& entry) {
  UserTotals& totals = totals_[entry.row.job.uid()];
  totals.described -= described_bytes(entry.row);
  totals.reports -= reported_bytes(entry.row);
  if (totals.described == 0 && totals.files == 0) totals_.erase(entry.row.job.uid());
}

std::uint64_t Book::row_bytes(const Entry& entry) {
  return described_bytes(entry.row) + reported_bytes(entry.row);
}

// What a job of another user reports beyond what they may have is left out.
v1::Ended Book::with_room(const Entry& entry, const v1::Ended& ended) const {
  const auto found = totals_.find(entry.row.job.uid());
  const std::uint64_t reports = found == totals_.end() ? 0 : found->second.reports;
  const bool fits = reports + ended.result_json().size() <= kReportBytesOfAUser;
  if (fits || !is_of_another(entry)) return ended;
  return without_report(ended,
                        fmt::format("those of {} take {} bytes already, may take {} in all",
                                    entry.row.job.spec().user(), reports, kReportBytesOfAUser));
}

Status Book::check_room(const Caller& caller, const JobRow& row, std::uint64_t report_bytes) const {
  if (caller.uid == options_.uid) return {};
  const std::size_t open = names_.open_of(caller.uid);
  if (open >= kOpenJobsOfAUser) {
    return Error{ErrorCode::Exhausted,
                 fmt::format("{} has {} jobs already that have not ended", caller.user, open),
                 "wait for some of them, or cancel them"};
  }
  const std::size_t open_of_others =
      open_.size() - std::min(open_.size(), names_.open_of(options_.uid));
  if (open_of_others >= kOpenJobsOfOthers) {
    return Error{ErrorCode::Exhausted,
                 fmt::format("users who share this scheduler have {} jobs already that have not "
                             "ended",
                             open_of_others),
                 "wait for some of them"};
  }
  const auto found = totals_.find(caller.uid);
  const UserTotals totals = found == totals_.end() ? UserTotals() : found->second;
  if (totals.described + described_bytes(row) > kDescribedBytesOfAUser) {
    return Error{ErrorCode::Exhausted,
                 fmt::format("the jobs of {} take {} bytes to describe already, may take {} in all",
                             caller.user, totals.described, kDescribedBytesOfAUser),
                 "have some forgotten with 'attune jobs prune'"};
  }
  std::uint64_t described = 0;  // of all others
  for (const auto& [uid, each] : totals_) described += uid == options_.uid ? 0 : each.described;
  if (described + described_bytes(row) > kDescribedBytesOfOthers) {
    return Error{ErrorCode::Exhausted,
                 fmt::format("the jobs of users who share this scheduler take {} bytes to describe "
                             "already, may take {} in all",
                             described, kDescribedBytesOfOthers),
                 "have some forgotten with 'attune jobs prune'"};
  }
  if (report_bytes > 0 && totals.reports + report_bytes > kReportBytesOfAUser) {
    return Error{ErrorCode::Exhausted,
                 fmt::format("the reports of {} take {} bytes already, may take {} in all",
                             caller.user, totals.reports, kReportBytesOfAUser),
                 "have some forgotten with 'attune jobs prune'"};
  }
  if (totals.files + row.job.files_bytes() <= kFileBytesOfAUser) return {};
  return Error{ErrorCode::Exhausted,
               fmt::format("the open jobs of {} have {} MiB of files already, may have {} in all",
                           caller.user, totals.files >> 20, kFileBytesOfAUser >> 20),
               "wait for some of them, or cancel them"};
}

// Of a registration that is new: one that comes back has its place.
Status Book::check_tuner(const Caller& caller, const v1::Register& registration) const {
  if (caller.uid == options_.uid) return {};
  ATTUNE_RETURN_IF_ERROR(check_tuned(registration.spec()));
  ATTUNE_RETURN_IF_ERROR(check_tuned_kinds(registration.kinds()));
  if (by_key_.count(key_of(caller.uid, registration.idempotency_key())) != 0) return {};
  std::size_t tuned = 0;
  for (const auto& [id, worker] : workers_) {
    if (worker.pass.caller.uid == caller.uid) tuned += worker.jobs.size();
  }
  for (const std::size_t position : held_) {
    const Entry& entry = entries_[position];
    if (entry.row.foreign && entry.row.job.uid() == caller.uid) ++tuned;
  }
  if (tuned < kTunedJobsOfAUser) return {};
  return Error{ErrorCode::Exhausted,
               fmt::format("the tuners of {} have {} jobs already", caller.user, tuned),
               {}};
}

// Empty: the stage may be offered.
std::string Book::why_no_offer(const Entry& entry, const v1::Offer& offered) const {
  const v1::Job& job = entry.row.job;
  if (!entry.kinds_said) return "the job has not said its kinds of stages";
  if (offered.stage() < 0) {
    return fmt::format("stages are numbered from 0, not {}", offered.stage());
  }
  if (offered.kind() < 0 || offered.kind() >= job.kinds_size()) {
    return fmt::format("the job has {} kinds of stages, there is no kind {}", job.kinds_size(),
                       offered.kind());
  }
  if (entry.finished.count(offered.stage()) != 0) return "the stage is done";
  if (!entry.row.foreign || !is_of_another(entry) || entry.stages.count(offered.stage()) != 0) {
    return {};
  }
  if (entry.stages.size() >= kTunedOpenStages) {
    return fmt::format("the job offers {} stages already", entry.stages.size());
  }
  if (entry.finished.size() < kTunedStages) return {};
  return fmt::format("the job had {} stages already", entry.finished.size());
}

// For which a stage may hold what it runs on.
double Book::longest_stage(const Entry& entry) const {
  if (!is_of_another(entry)) return std::numeric_limits<double>::infinity();
  return std::max(
      {kLeastStageSeconds, options_.limits.floor_seconds, entry.row.job.spec().seconds()});
}

}  // namespace attune::jobs
