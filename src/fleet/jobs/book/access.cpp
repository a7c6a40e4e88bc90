#include "fleet/jobs/book/access.h"

#include <fmt/format.h>

#include "base/check.h"
#include "fleet/wire/denied.h"

namespace attune::jobs {
namespace {

using wire::denied;

constexpr bool kYes = true, kNo = false;

constexpr Rule kRules[] = {
    // right, in words                                     scheduler owner other worker tuner
    {Right::Submit, "submit jobs", kYes, kYes, kYes, kNo, kNo},
    {Right::NameUser, "submit jobs in another's name", kYes, kNo, kNo, kNo, kNo},
    {Right::NamePaths, "have files read and written by their paths", kYes, kNo, kNo, kNo, kNo},
    {Right::Upload, "send files for a job", kYes, kYes, kYes, kNo, kNo},
    {Right::SeeThatItIs, "see that a job is there", kYes, kYes, kYes, kNo, kNo},
    {Right::SeeDetails, "see all of a job", kYes, kYes, kNo, kNo, kNo},
    {Right::Control, "pause, resume, stop or cancel it", kYes, kYes, kNo, kNo, kNo},
    {Right::Fetch, "fetch what it made", kYes, kYes, kNo, kNo, kNo},
    {Right::Prune, "have it forgotten when it has ended", kYes, kYes, kNo, kNo, kNo},
    {Right::WorkerToken, "let workers take part", kYes, kNo, kNo, kNo, kNo},
    {Right::TunerToken, "let a tuner take part in one's own name", kYes, kYes, kYes, kNo, kNo},
    {Right::TakeJobs, "be given the jobs of all", kNo, kNo, kNo, kYes, kNo},
    {Right::Register, "bring a job of one's own", kNo, kNo, kNo, kYes, kYes},
};

constexpr CallRule kCallRules[] = {
    {"Submit", Right::Submit},     {"List", Right::SeeThatItIs}, {"Control", Right::Control},
    {"Watch", Right::SeeThatItIs}, {"Work", Right::TunerToken},  {"Token", Right::TunerToken},
    {"Upload", Right::Upload},     {"Fetch", Right::Fetch},      {"Prune", Right::Prune},
};

bool is_path(const std::string& text) { return text.find('/') != std::string::npos; }

}  // namespace

std::span<const Rule> rules() { return kRules; }
std::span<const CallRule> call_rules() { return kCallRules; }

Status check_may_call(const Caller& caller, std::uint32_t scheduler, std::string_view call) {
  // Of which job it is, and whose, is not known yet.
  const Standing at_best = caller.uid == scheduler ? Standing::Scheduler : Standing::Owner;
  for (const CallRule& rule : kCallRules) {
    if (rule.call == call && may(at_best, rule.right)) return {};
  }
  return denied(fmt::format("{} may not call {}", caller.user, call));
}

bool may(Standing standing, Right right) {
  for (const Rule& rule : kRules) {
    if (rule.right != right) continue;
    switch (standing) {
      case Standing::Scheduler:
        return rule.scheduler;
      case Standing::Owner:
        return rule.owner;
      case Standing::Other:
        return rule.other;
      case Standing::Worker:
        return rule.worker;
      case Standing::Tuner:
        return rule.tuner;
    }
  }
  CHECK(false, "a right that is not in the table");
  return false;
}

Standing standing_of(const Caller& caller, std::uint32_t scheduler) {
  return caller.uid == scheduler ? Standing::Scheduler : Standing::Other;
}

Standing standing_of(const Caller& caller, const v1::Job& job, std::uint32_t scheduler) {
  if (caller.uid == scheduler) return Standing::Scheduler;
  return caller.uid == job.uid() ? Standing::Owner : Standing::Other;
}

bool is_upload_of(std::uint32_t uid, const std::string& files) {
  const std::string begin = fmt::format("{}-", uid);
  return files.starts_with(begin) && files.size() == begin.size() + 32 &&
         files.find_first_not_of("0123456789abcdef", begin.size()) == std::string::npos;
}

Status check_may_submit(const Caller& caller, std::uint32_t scheduler, const v1::JobSpec& spec) {
  const Standing standing = standing_of(caller, scheduler);
  const bool named = !spec.user().empty() && spec.user() != caller.user;
  if (named && !may(standing, Right::NameUser)) {
    return denied(
        fmt::format("the job is said to be {}'s, but {} submits it", spec.user(), caller.user),
        "leave out --user; only the scheduler's user may name another");
  }
  if (!spec.files().empty() && !is_upload_of(caller.uid, spec.files())) {
    return denied(fmt::format("'{}' are no files that {} has sent", spec.files(), caller.user));
  }
  const bool by_path = is_path(spec.output()) || (is_path(spec.model()) && spec.files().empty());
  if (!by_path || (may(standing, Right::NamePaths) && spec.files().empty())) return {};
  return denied(fmt::format("the scheduler opens no files of {} by their paths", caller.user),
                "'attune submit' sends them");
}

v1::Job without_details(const v1::Job& job) {
  v1::Job shown;
  shown.set_id(job.id());
  shown.set_uid(job.uid());
  v1::JobSpec& spec = *shown.mutable_spec();
  spec.set_name(job.id());
  spec.set_user(job.spec().user());
  spec.set_priority(job.spec().priority());
  spec.set_device(job.spec().device());
  shown.set_state(job.state());
  shown.set_waiting_for(job.waiting_for());
  shown.set_queue_position(job.queue_position());
  shown.set_predicted_end(job.predicted_end());
  shown.set_submitted_at(job.submitted_at());
  shown.set_started_at(job.started_at());
  shown.set_ended_at(job.ended_at());
  return shown;
}

}  // namespace attune::jobs
