#include "tuner/session/run_local.h"

#include <vector>

namespace attune::session {
namespace {

class OneSession final : public Agenda {
 public:
  OneSession(Session& session, Observer* observer, const std::atomic<bool>* enough)
      : session_(session), observer_(observer), enough_(enough) {}

  std::vector<Job> ready() override {
    if (enough_ != nullptr && enough_->load()) session_.end_selection();
    std::vector<Job> jobs;
    for (const Stage& stage : session_.ready_stages()) jobs.push_back({0, stage});
    return jobs;
  }
  void ended(const Job& job, double seconds) override {
    if (observer_ == nullptr) return;
    Progress progress = session_.progress();
    progress.stage = name_of(job.stage.kind);
    progress.round = job.stage.round;
    progress.stage_seconds = seconds;
    progress.failed = session_.take_failed();
    observer_->progressed(progress);
  }

 private:
  Session& session_;
  Observer* observer_;
  const std::atomic<bool>* enough_;
};

}  // namespace

Status run_local(Session& session, Observer* observer, const std::atomic<bool>* stop,
                 Usage* usage) {
  // A session that shares its cores with the device has one round under way at a time.
  LocalAdmission admission({});
  return run_admitted(session, admission, session.clock(), observer, stop, nullptr, usage);
}

Status run_admitted(Session& session, Admission& admission, const Clock& clock, Observer* observer,
                    const std::atomic<bool>* stop, const std::atomic<bool>* enough, Usage* usage) {
  OneSession agenda(session, observer, enough);
  Usage used;
  const std::vector<Session*> sessions = {&session};
  const Status status = drive(sessions, agenda, admission, clock, stop, used);
  if (usage != nullptr) *usage = used;
  CHECK(!status.ok() || session.finished() || (stop != nullptr && stop->load()),
        "a session that is not finished has a ready stage");
  return status;
}

}  // namespace attune::session
