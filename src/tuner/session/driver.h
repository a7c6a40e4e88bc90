// The one loop that runs stages: it takes those that an agenda wants, starts each as soon as it is
// admitted, and tells the agenda what has ended. Sessions, budgets and their order are the agenda's
// affair; cores and devices are that of the admission.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "tuner/session/admission.h"
#include "tuner/session/session.h"

namespace attune::session {

// A stage of one of the sessions.
struct Job {
  std::size_t session = 0;
  Stage stage;
  friend bool operator==(const Job&, const Job&) = default;
};

class Agenda {
 public:
  virtual ~Agenda() = default;
  // What may run now and does not yet, in the order in which it is best run.
  virtual std::vector<Job> ready() = 0;
  // On the thread that drives, one after the other.
  virtual void ended(const Job& job, double seconds) = 0;
};

// A stage of the run itself, not of a session; ready from the start. The driver returns when all of
// them are done.
struct RunStage {
  Work work;
  std::function<Status()> perform;
};

// Where the time went.
struct Usage {
  double wall_seconds = 0;
  std::array<double, kStageKinds> seconds_of = {};  // by StageKind; some run side by side
  std::map<std::string, double> run_seconds = {};   // of stages of the run, by their kind
  double search_seconds() const;                    // choosing and learning
  Usage& operator+=(const Usage& other);
};

// Until the agenda wants nothing more. When `stop` becomes true, or a stage fails, those that run
// are waited for and no others begin; the error of the first that failed is returned.
Status drive(const std::vector<Session*>& sessions, Agenda& agenda, Admission& admission,
             const Clock& clock, const std::atomic<bool>* stop, Usage& usage,
             std::vector<RunStage> run_stages = {});

// Waits on the calling thread until this work is admitted, and takes the thread to its cores; who
// calls says admission.ended() when it is done. An error when `stop` became true before, or when
// the cores cannot be had; the work is not running then.
Status await_admission(const Work& work, Admission& admission, const std::atomic<bool>* stop);

}  // namespace attune::session
