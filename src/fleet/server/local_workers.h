// Worker processes that the scheduler starts by itself: so many at a time, each in a process group
// of its own, each with a token in its environment by which its connection is known. They die with
// the scheduler; one that ends is replaced, and ones that end at once are replaced ever more
// slowly.
#pragma once

#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "fleet/jobs/book/book.h"

namespace attune::server {

struct LocalWorkersOptions {
  std::vector<std::string> command;  // the program and its arguments; finds its token in kTokenName
  int count = 0;
  std::string log_folder;       // for worker-N.log, what they print
  int lock_descriptor = -1;     // that they inherit
  std::vector<int> cores = {};  // that they may use; empty: those of the scheduler
  double quick_seconds = 5;     // who lived shorter ended at once
  std::function<void(const std::string&)> note = {};  // a line about one that ended by itself
  std::function<void()> ended = {};                   // one has, in whatever way
};

// Of the variable in the environment.
inline constexpr const char* kTokenName = "ATTUNE_TOKEN";

// A crash, or an exit with an error, is its own fault; to be killed is not.
enum class WorkerEnd { Killed, ByItsOwnFault };

class LocalWorkers {
 public:
  explicit LocalWorkers(LocalWorkersOptions options);
  ~LocalWorkers() { stop(); }
  LocalWorkers(const LocalWorkers&) = delete;
  LocalWorkers& operator=(const LocalWorkers&) = delete;

  void start();
  // Kills them all; none is started any more.
  void stop();
  // Remembers whose connection it is, when the token is one that a process of ours was started with
  // and nobody has said before.
  bool adopt(jobs::WorkerId worker, const std::string& token);
  // With all that it started. Returns when it has ended, however long that takes: what it measured
  // on must not be given on before. Says how it ended, where that was before the killing.
  WorkerEnd kill(jobs::WorkerId worker);
  // Workers beyond the number, for those that are held by paused jobs.
  void set_extra(int extra);

 private:
  struct Child {
    int descriptor = -1;  // readable when the process has ended
    int number = 0;       // from 0, of its log
    double started_at = 0;
    bool killed = false;     // by us
    std::string token = {};  // until it has said it
  };
  void run();
  void spawn_missing(double now);
  bool spawn(double now);
  void reap(int pid, double now);
  int free_number() const;

  LocalWorkersOptions options_;
  int wake_ = -1;
  std::mutex mutex_;
  std::map<int, Child> children_;
  std::map<jobs::WorkerId, int> adopted_;
  std::set<jobs::WorkerId> at_fault_;  // of those that have ended
  int extra_ = 0;
  bool stopping_ = false;
  double next_spawn_at_ = 0;  // the thread's
  int quick_ends_ = 0;
  std::thread thread_;
};

}  // namespace attune::server
