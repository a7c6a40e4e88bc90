// The one loop that runs stages: it takes those that an agenda wants, starts each as soon as its
// resource is free, and tells the agenda what has ended. Sessions, budgets and their order are the
// agenda's affair; cores and device are the driver's.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "tuner/session/session.h"

namespace attune::session {

// What stages run on.
struct Machine {
  int host_stages = 1;  // stages on host cores at once, at least 1
  // The device is made of the host's cores: its stages and the host's take turns, each kind until
  // nothing of it is left to do.
  bool shared = false;
};

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

// Where the time went.
struct Usage {
  double wall_seconds = 0;
  std::array<double, kStageKinds> seconds_of = {};  // by StageKind; some run side by side
  double search_seconds() const;                    // choosing and learning
};

// Until the agenda wants nothing more. When `stop` becomes true, or a stage fails, those that run
// are waited for and no others begin; the error of the first that failed is returned.
Status drive(const std::vector<Session*>& sessions, Agenda& agenda, const Machine& machine,
             const Clock& clock, const std::atomic<bool>* stop, Usage& usage);

}  // namespace attune::session
