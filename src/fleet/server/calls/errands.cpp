#include "fleet/server/calls/errands.h"

#include <utility>

namespace attune::server {

Errands::Errands() : thread_([this] { run(); }) {}

Errands::~Errands() { stop(); }

void Errands::add(Errand errand) {
  {
    const std::lock_guard lock(mutex_);
    if (stopping_) return;
    errands_.push_back(std::move(errand));
  }
  added_.notify_one();
}

void Errands::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  added_.notify_one();
  if (thread_.joinable()) thread_.join();
}

void Errands::run() {
  for (;;) {
    Errand errand;
    {
      std::unique_lock lock(mutex_);
      added_.wait(lock, [&] { return stopping_ || !errands_.empty(); });
      if (errands_.empty()) return;
      errand = std::move(errands_.front());
      errands_.pop_front();
    }
    errand();
  }
}

}  // namespace attune::server
