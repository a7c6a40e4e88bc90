// The one thread that owns the book. Events come from connections and are taken in groups: the book
// hears them, settles, and what it answers is carried out. Messages that acknowledge something go
// out when the journal has written it, others at once. Between events the thread sleeps until the
// next one or until a deadline. What is decided is Turns' (turns.h); nothing that the thread does
// itself waits for a process, a person or a read or write of the disk: what is read for a call is
// disk work (calls/disk_work.h), what is written is the journal's. A job that comes with
// files makes it wait for names to change, two folders and one renaming at most (claim_upload),
// which it does not sync; and it waits for locks that are held for moments.
#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <map>
#include <mutex>
#include <thread>
#include <vector>

#include "fleet/jobs/book/book.h"
#include "fleet/server/journal.h"
#include "fleet/server/turns.h"
#include "fleet/server/unix_clock.h"

namespace attune::server {

// What the loop does to the world. `send` comes from the loop's thread and the journal's.
class World {
 public:
  virtual ~World() = default;
  virtual void send(jobs::WorkerId worker, const v1::ToWorker& message) = 0;
  virtual void close(jobs::WorkerId worker) = 0;
  // Ends the process of a local worker, without waiting for that; the book is told when it has.
  virtual void kill(jobs::WorkerId worker) = 0;
  // So many local workers are held by paused jobs.
  virtual void parked(int workers) = 0;
  // A line for the person who started the server.
  virtual void note(const std::string& text) = 0;
};

// Gets a part of a snapshot, or the error in its place; called again when `watcher_ready` was. The
// next part is not made before: whoever reads slowly keeps one in memory.
using Deliver = std::function<void(Result<v1::Snapshot>)>;

class EventLoop {
 public:
  // The book's times are of `clock`. Leases of workers last `lease_seconds`.
  EventLoop(jobs::Book book, Journal& journal, World& world, UnixClock clock, double lease_seconds);
  ~EventLoop();  // stops
  EventLoop(const EventLoop&) = delete;
  EventLoop& operator=(const EventLoop&) = delete;

  // False when the loop has stopped: the event will not be heard.
  bool post(Event event);
  // Workers can find the server from now on: leases begin to run.
  void serve() { serving_ = true; }
  // The events posted before are still heard.
  void stop();

  // Snapshots for a watcher, the first at once, then when something changed and it is ready again;
  // the further parts of one whenever it is ready.
  bool watch(std::uint64_t watcher, jobs::Caller caller, v1::ListRequest request, Deliver deliver);
  void watcher_ready(std::uint64_t watcher);
  void unwatch(std::uint64_t watcher);

 private:
  struct Watcher {
    jobs::Caller caller;
    v1::ListRequest request;
    Deliver deliver;
    bool ready = true, news = true;
    double next_at = 0;
    double cost_seconds = 0;  // of all parts of the last snapshot
  };
  void run();
  void hear(const std::vector<Event>& events);
  void carry_out(Turns::Decision decision);
  void tell_watchers(double at, bool changed);
  void tell(Watcher& watcher, double at, double share);
  double deadline() const;

  Turns turns_;  // the thread's
  Journal& journal_;
  World& world_;
  std::map<std::uint64_t, Watcher> watchers_;  // the thread's
  const UnixClock clock_;
  std::atomic<bool> serving_ = false;
  std::mutex mutex_;
  std::condition_variable posted_;
  std::vector<Event> events_;
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace attune::server
