// A process of our own program that was started anew, not forked: drivers of devices do not survive
// a fork. It has a session of its own, a line to this process and nothing else of it, and ends when
// the line does.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "tuner/measure/probe/channel.h"

namespace attune::device_runner {

class Spawned {
 public:
  // The words of its command line; the first is the program.
  static Result<Spawned> start(const std::vector<std::string>& command);

  Spawned(Spawned&& other) noexcept
      : pid_(std::exchange(other.pid_, -1)), line_(std::move(other.line_)) {}
  Spawned& operator=(Spawned&& other) noexcept {
    std::swap(pid_, other.pid_);
    line_ = std::move(other.line_);
    return *this;
  }
  ~Spawned() { (void)end(); }

  int line() const { return line_.number(); }
  // Ends it, and all that it started, whatever it does; its wait status, if it ended.
  std::optional<int> end();
  // The same when it is about to end by itself, for which it gets a moment.
  std::optional<int> await_end();
  bool is_alive() const;

 private:
  Spawned(pid_t pid, probe::Descriptor line) : pid_(pid), line_(std::move(line)) {}
  pid_t pid_ = -1;
  probe::Descriptor line_;
};

}  // namespace attune::device_runner
