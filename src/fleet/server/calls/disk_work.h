// What calls do with the disk, one after the other, on a thread of its own: neither the loop, whose
// turn everybody waits for, nor the journal waits for that. A call has one step of it at a time, so
// that there are no more of them than calls.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

namespace attune::server {

class DiskWork {
 public:
  using Step = std::function<void()>;

  DiskWork();
  ~DiskWork();  // stops
  DiskWork(const DiskWork&) = delete;
  DiskWork& operator=(const DiskWork&) = delete;

  // Nothing comes of it after stop().
  void add(Step step);
  // What was added before is still done.
  void stop();

 private:
  void run();

  std::mutex mutex_;
  std::condition_variable added_;
  std::deque<Step> steps_;
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace attune::server
