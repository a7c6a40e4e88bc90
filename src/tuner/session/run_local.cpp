#include "tuner/session/run_local.h"

#include <vector>

namespace attune::session {
namespace {

class OneSession final : public Agenda {
 public:
  OneSession(Session& session, Observer* observer) : session_(session), observer_(observer) {}

  std::vector<Job> ready() override {
    std::vector<Job> jobs;
    for (const Stage& stage : session_.ready_stages()) jobs.push_back({0, stage});
    return jobs;
  }
  void ended(const Job&, double) override {
    if (observer_ != nullptr) observer_->progressed(session_.progress());
  }

 private:
  Session& session_;
  Observer* observer_;
};

}  // namespace

Status run_local(Session& session, Observer* observer, const std::atomic<bool>* stop,
                 Usage* usage) {
  OneSession agenda(session, observer);
  Usage used;
  // A session that shares its cores with the device has one stage ready at a time.
  const Status status = drive({&session}, agenda, {}, session.clock(), stop, used);
  if (usage != nullptr) *usage = used;
  CHECK(!status.ok() || session.finished() || (stop != nullptr && stop->load()),
        "a session that is not finished has a ready stage");
  return status;
}

}  // namespace attune::session
