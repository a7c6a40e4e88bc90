// Ctrl-C and SIGTERM as a flag: work in progress ends in an orderly way. A second signal ends the
// process at once.
#pragma once

#include <atomic>

namespace attune::cli {

class Interrupt {
 public:
  // Signals set the flag from here on, until the object goes. One at a time.
  Interrupt();
  ~Interrupt();
  Interrupt(const Interrupt&) = delete;
  Interrupt& operator=(const Interrupt&) = delete;

  const std::atomic<bool>& requested() const;
  // 128 + the signal, as shells say it; 0 when none came.
  int exit_status() const;
};

}  // namespace attune::cli
