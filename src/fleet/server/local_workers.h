// Worker processes that the scheduler starts by itself: so many at a time, each in a process group
// of its own, each with a token in its environment by which its connection is known. They die with
// the scheduler; one that ends is replaced, and ones that end at once are replaced ever more
// slowly. Nobody waits for a process: one thread watches them, and says how each ended. One that
// was killed and does not end (in uninterruptible sleep) has a place of its own beside the others.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "fleet/jobs/book/effects.h"
#include "fleet/jobs/book/strikes.h"
#include "fleet/server/memory_kills.h"

namespace attune::server {

struct LocalWorkersOptions {
  // The program and its arguments; it finds its token in kTokenName.
  std::vector<std::string> command = {};
  int count = 0;
  std::string log_folder = {};  // for worker-N.log, what they print
  int lock_descriptor = -1;     // that they inherit
  std::vector<int> cores = {};  // that they may use; empty: those of the scheduler
  double quick_seconds = 5;     // who lived shorter ended at once
  double slow_seconds = 5;      // who was killed and lives longer is spoken of, and replaced
  std::function<void(const std::string&)> note = {};  // a line about one that ended by itself
  std::function<void()> ended = {};                   // one has, in whatever way
  // One that was adopted has. From the thread that watches, as all of these.
  std::function<void(jobs::WorkerId, const jobs::WorkerDeath&)> died = {};
  std::function<std::optional<std::int64_t>()> memory_kills = [] { return count_memory_kills(); };
  std::function<void(int pid)> kill_group = {};  // in another way than by SIGKILL, for tests
};

// Of the variable in the environment.
inline constexpr const char* kTokenName = "ATTUNE_TOKEN";

class LocalWorkers {
 public:
  explicit LocalWorkers(LocalWorkersOptions options);
  ~LocalWorkers() { stop(); }
  LocalWorkers(const LocalWorkers&) = delete;
  LocalWorkers& operator=(const LocalWorkers&) = delete;

  void start();
  // Kills them all and waits for their end, though not for ever; none is started any more.
  void stop();
  // Remembers whose connection it is, when the token is one that a process of ours was started with
  // and nobody has said before.
  bool adopt(jobs::WorkerId worker, const std::string& token);
  // With all that it started, unless it ends by itself within a moment, as one does whose
  // connection broke because it died. Waits for nothing; `died` is called when it has ended. False
  // when it is no process of ours, or has died already.
  bool kill(jobs::WorkerId worker);
  // Workers beyond the number, for those that are held by paused jobs.
  void set_extra(int extra);

 private:
  enum class Fate : std::uint8_t { Lives, MayEnd, Killed, Lingers };
  struct Child {
    int descriptor = -1;  // readable when the process has ended
    int number = 0;       // from 0, of its log
    double started_at = 0;
    std::string token = {};  // until it has said it
    Fate fate = Fate::Lives;
    double fate_at = 0;  // when it was so; MayEnd and Killed last some time
  };
  void run();
  double see_to_fates(double now, std::vector<std::string>& notes);
  void spawn_missing(double now);
  bool spawn(double now);
  void reap(int pid, double now);
  jobs::WorkerDeath death_of(const Child& child, int status, std::int64_t peak_bytes);
  void slow_down(const Child& child, int status, double now);
  void watch_until(double moment, bool with_wake);
  void end_all();
  int missing() const;
  int free_number() const;
  void kill_group(int pid) const;
  void say(const std::string& text) const;

  LocalWorkersOptions options_;
  int wake_ = -1;
  std::mutex mutex_;
  std::map<int, Child> children_;  // added and removed by the thread
  std::map<jobs::WorkerId, int> adopted_;
  int extra_ = 0;
  bool stopping_ = false;
  double next_spawn_at_ = 0;  // the thread's
  int quick_ends_ = 0;
  std::optional<std::int64_t> memory_kills_;  // as counted last
  std::thread thread_;
};

}  // namespace attune::server
