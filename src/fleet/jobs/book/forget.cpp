// Jobs that are forgotten: they have ended, and their owner or the retention of the scheduler wants
// to be rid of them. The newest job stays, so that no number is given to two jobs.
#include <fmt/format.h>

#include <charconv>
#include <cmath>

#include "fleet/jobs/book/book.h"

namespace attune::jobs {
namespace {

constexpr int kMostPrunedAtOnce = 500;

}  // namespace

bool Book::may_be_forgotten(const Entry& entry) const {
  return entry.ended() && entry.position != entries_.back().position;
}

void Book::forget(Entry& entry) {
  effects_.forgotten.push_back({entry.row.number, entry.id()});
  const std::size_t position = entry.position;
  const std::string key = key_of(entry.row.job.uid(), entry.row.key);
  if (const auto found = by_key_.find(key); found != by_key_.end() && found->second == position) {
    by_key_.erase(found);
  }
  by_id_.erase(entry.id());
  names_.remove(entry.row.job.spec().name(), position);
  count_out(entry);
  dirty_.erase(position);
  entries_.erase(position);
}

std::vector<EndedJob> Book::ended_jobs() const {
  std::vector<EndedJob> ended;
  for (const Entry& entry : entries_) {
    if (!may_be_forgotten(entry)) continue;
    ended.push_back({.id = entry.id(),
                     .ended_at = entry.row.job.ended_at(),
                     .bytes = row_bytes(entry),
                     .uid = entry.row.job.uid()});
  }
  return ended;
}

void Book::forget(const std::vector<std::string>& ids) {
  for (const std::string& id : ids) {
    const auto found = by_id_.find(id);
    if (found == by_id_.end() || !may_be_forgotten(entries_[found->second])) continue;
    forget(entries_[found->second]);
  }
}

Result<v1::PruneReply> Book::prune(const Caller& caller, const v1::PruneRequest& request,
                                   double now) {
  if (!std::isfinite(request.older_than_seconds()) || request.older_than_seconds() < 0) {
    return invalid(fmt::format("jobs cannot be older than {} s", request.older_than_seconds()));
  }
  v1::PruneReply reply;
  std::vector<std::string> pruned;
  for (const Entry& entry : entries_) {
    const v1::Job& job = entry.row.job;
    if (entry.row.number <= request.after()) continue;
    if (!may_be_forgotten(entry) || now - job.ended_at() < request.older_than_seconds()) continue;
    if (!may(standing_of(caller, job, options_.uid), Right::Prune)) continue;
    if (reply.jobs_size() == kMostPrunedAtOnce) {
      reply.set_next(entries_[by_id_.at(reply.jobs(kMostPrunedAtOnce - 1).id())].row.number);
      break;
    }
    v1::Job& shown = *reply.add_jobs();
    shown = without_details(job);
    shown.mutable_spec()->set_name(job.spec().name());
    pruned.push_back(entry.id());
  }
  if (!request.dry_run()) forget(pruned);
  return reply;
}

// What another book wrote here, before this one was begun, is not this one's to forget.
std::vector<std::string> Book::forgotten(const std::vector<std::string>& ids) const {
  const std::int64_t newest = entries_.empty() ? 0 : entries_.back().row.number;
  std::vector<std::string> gone;
  for (const std::string& id : ids) {
    std::int64_t number = 0;
    const char* const end = id.data() + id.size();
    const auto [stop, failure] = std::from_chars(id.data() + 1, end, number);
    const bool is_number = id.starts_with('j') && failure == std::errc() && stop == end;
    if (is_number && number < newest && by_id_.count(id) == 0) gone.push_back(id);
  }
  return gone;
}

void Book::report_is_written(const std::string& id) {
  const auto found = by_id_.find(id);
  if (found == by_id_.end() || !entries_[found->second].ended()) return;
  JobRow& row = entries_[found->second].row;
  row.report_on_disk = !row.job.result_json().empty() || row.report_on_disk;
  row.report_bytes += row.job.result_json().size();
  row.job.clear_result_json();
}

}  // namespace attune::jobs
