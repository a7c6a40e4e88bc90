// Keeps what a scheduler remembers within its retention: a thread that looks when the scheduler
// starts, then now and then, and when it is woken, though not without a pause. Rows are removed
// first, and what lies in the folder of a job when that is on the disk: after a crash in between
// the folder is found again. Where the clock may be wrong nothing is too old.
#pragma once

#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "fleet/jobs/book/retention.h"
#include "fleet/server/event_loop.h"
#include "fleet/server/journal.h"

namespace attune::server {

class Caretaker {
 public:
  // `newest`: the last moment that the state knew of, or 0; `looked` is told after each look.
  Caretaker(std::string state, jobs::Retention retention, EventLoop& loop, Journal& journal,
            UnixClock clock, double newest, std::function<void()> looked = {});
  ~Caretaker();  // stops; while the loop is still there
  Caretaker(const Caretaker&) = delete;
  Caretaker& operator=(const Caretaker&) = delete;

  // Something was forgotten.
  void wake();

 private:
  void run();
  void look();
  bool may_judge_age() const;
  void forget_overdue(const jobs::Retention& retention);
  void remove_folders();
  // Has the loop do something and waits until all that it changed is on the disk; false when that
  // will not be.
  bool ask(const std::function<void(Turn&)>& act);

  const std::string state_;
  const jobs::Retention retention_;
  EventLoop& loop_;
  Journal& journal_;
  const UnixClock clock_;
  const std::function<void()> looked_;
  const double ages_count_from_;
  std::map<std::string, std::uint64_t> bytes_;  // of folders of jobs that ended a while ago
  // Outlives this object where the loop was asked and has not answered.
  struct Shared {
    std::mutex mutex;
    std::condition_variable changed;
    bool stopping = false, woken = false;
  };
  const std::shared_ptr<Shared> shared_ = std::make_shared<Shared>();
  std::thread thread_;
};

}  // namespace attune::server
