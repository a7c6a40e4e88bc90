// What the server's loop does with a group of events, without its thread, its clock and its disk:
// the book hears them, time in which nobody could be heard or answered is taken off, deadlines are
// judged, and the book settles. A simulation that says what time it is and how the disk does sees
// the very decisions of the server.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "fleet/jobs/book/book.h"
#include "fleet/server/lease_clock.h"

namespace attune::server {

// Called once, with the error when what it waits for could not be written.
using Acknowledge = std::function<void(const Status&)>;

// What an event may use, all in the same moment.
struct Turn {
  jobs::Book& book;
  double now;
  std::vector<Acknowledge> waiting = {};
  std::vector<std::string> folders = {};  // to sync before what the turn changed is written
  bool changed = false;                   // something that people see
};
using Event = std::function<void(Turn&)>;

// How well the server can hear and answer.
struct Condition {
  bool serving = true;           // workers can find it
  double disk_busy_seconds = 0;  // with what is being written now
};

class Turns {
 public:
  // Leases of the book's workers last `lease_seconds`.
  Turns(jobs::Book book, double lease_seconds, double now);

  struct Decision {
    jobs::Effects effects;
    std::vector<Acknowledge> waiting;  // for the effects to be written
    std::vector<std::string> folders;  // to sync before
    bool changed = false;              // something that people see
  };
  Decision take(const std::vector<Event>& events, double now, const Condition& condition);

  // When to take the next, although nothing happened. While there are deadlines it is soon, so that
  // it is seen when the server was away.
  double next_at(double now) const;

  const jobs::Book& book() const { return book_; }

 private:
  jobs::Book book_;
  double lease_seconds_;
  LeaseClock clock_;
};

}  // namespace attune::server
