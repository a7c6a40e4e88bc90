// Does for calls what waits for the disk, one thing after the other, on a thread of its own:
// neither the loop, whose turn everybody waits for, nor the journal does it. A call has one errand
// at a time, so that there are no more of them than calls.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

namespace attune::server {

class Errands {
 public:
  using Errand = std::function<void()>;

  Errands();
  ~Errands();  // stops
  Errands(const Errands&) = delete;
  Errands& operator=(const Errands&) = delete;

  // Nothing comes of it after stop().
  void add(Errand errand);
  // What was added before is still done.
  void stop();

 private:
  void run();

  std::mutex mutex_;
  std::condition_variable added_;
  std::deque<Errand> errands_;
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace attune::server
