// Keeps what a scheduler remembers within its retention: a thread that looks when the scheduler
// starts, then now and then, and when it is woken. Rows are removed first, and what lies in the
// folder of a job when that is on the disk: after a crash in between the folder is found again.
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
  Caretaker(std::string state, jobs::Retention retention, EventLoop& loop, Journal& journal,
            UnixClock clock);
  ~Caretaker();  // stops; while the loop is still there
  Caretaker(const Caretaker&) = delete;
  Caretaker& operator=(const Caretaker&) = delete;

  // Something was forgotten.
  void wake();

 private:
  void run();
  void look();
  void forget_overdue();
  void remove_folders();
  // Has the loop do something and waits until all that it changed is on the disk; false when that
  // will not be.
  bool ask(const std::function<void(Turn&)>& act);

  const std::string state_;
  const jobs::Retention retention_;
  EventLoop& loop_;
  Journal& journal_;
  const UnixClock clock_;
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
