#include "fleet/server/calls/deferred_reads.h"

#include <utility>

namespace attune::server {

DeferredReads::DeferredReads() : thread_([this] { run(); }) {}

DeferredReads::~DeferredReads() { stop(); }

void DeferredReads::add(Read read) {
  {
    const std::lock_guard lock(mutex_);
    if (stopping_) return;
    reads_.push_back(std::move(read));
  }
  added_.notify_one();
}

void DeferredReads::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  added_.notify_one();
  if (thread_.joinable()) thread_.join();
}

void DeferredReads::run() {
  for (;;) {
    Read read;
    {
      std::unique_lock lock(mutex_);
      added_.wait(lock, [&] { return stopping_ || !reads_.empty(); });
      if (reads_.empty()) return;
      read = std::move(reads_.front());
      reads_.pop_front();
    }
    read();
  }
}

}  // namespace attune::server
