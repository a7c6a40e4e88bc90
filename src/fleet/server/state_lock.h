// A scheduler's right to its folder: one at a time. The lock goes with the process, however it
// ends. A second one is handed down to the local workers and all that they start: a new scheduler
// waits until the last of them has gone, so that none of them still measures.
#pragma once

#include <string>

#include "base/result.h"

namespace attune::server {

class StateLock {
 public:
  // Makes the folder when it is not there, and closes it to all other users.
  static Result<StateLock> take(const std::string& state);

  StateLock(StateLock&& other) noexcept;
  StateLock& operator=(StateLock&&) = delete;
  ~StateLock();

  // For workers to inherit; closed by exec unless that is changed.
  int workers_descriptor() const { return workers_; }

 private:
  StateLock(int own, int workers) : own_(own), workers_(workers) {}
  int own_ = -1, workers_ = -1;
};

}  // namespace attune::server
