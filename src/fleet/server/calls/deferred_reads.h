// Reads for calls from the disk, one after the other, on a thread of its own: neither the loop,
// whose turn everybody waits for, nor the journal waits for that. A call has one read at a time, so
// that there are no more of them than calls.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

namespace attune::server {

class DeferredReads {
 public:
  using Read = std::function<void()>;

  DeferredReads();
  ~DeferredReads();  // stops
  DeferredReads(const DeferredReads&) = delete;
  DeferredReads& operator=(const DeferredReads&) = delete;

  // Nothing comes of it after stop().
  void add(Read read);
  // What was added before is still done.
  void stop();

 private:
  void run();

  std::mutex mutex_;
  std::condition_variable added_;
  std::deque<Read> reads_;
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace attune::server
