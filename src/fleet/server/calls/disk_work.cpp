#include "fleet/server/calls/disk_work.h"

#include <utility>

namespace attune::server {

DiskWork::DiskWork() : thread_([this] { run(); }) {}

DiskWork::~DiskWork() { stop(); }

void DiskWork::add(Step step) {
  {
    const std::lock_guard lock(mutex_);
    if (stopping_) return;
    steps_.push_back(std::move(step));
  }
  added_.notify_one();
}

void DiskWork::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  added_.notify_one();
  if (thread_.joinable()) thread_.join();
}

void DiskWork::run() {
  for (;;) {
    Step step;
    {
      std::unique_lock lock(mutex_);
      added_.wait(lock, [&] { return stopping_ || !steps_.empty(); });
      if (steps_.empty()) return;
      step = std::move(steps_.front());
      steps_.pop_front();
    }
    step();
  }
}

}  // namespace attune::server
