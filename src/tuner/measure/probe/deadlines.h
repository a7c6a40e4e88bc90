// How long the server waits for a worker. The worker says in which phase it is and since when, in
// memory that foreign code may write to, so that its word can shorten the wait as usual, but never
// lengthen it beyond what the server's own clock allows for the whole command.
#pragma once

#include <cstdint>
#include <optional>

#include "tuner/measure/probe/channel.h"
#include "tuner/measure/probe/exchange.h"

namespace attune::probe {

// Loading and filling are ours, and take milliseconds; more than this and something is broken.
inline constexpr double kSetUpLimitMs = 60'000.0;

bool runs_kernel(outcome::Phase phase);
// As the worker says it, if that exists.
outcome::Phase phase_of(const Progress& progress);

class Deadlines {
 public:
  Deadlines() = default;
  Deadlines(const RequestHeader& request, MessageKind command, std::int64_t now_ns);

  // The worker said that a kernel is about to run. `worked_ns`: the processor's time that it has
  // had by then, in all its threads; nothing where the system does not tell.
  void note_running(std::int64_t now_ns, std::optional<std::int64_t> worked_ns) {
    running_since_ns_ = now_ns;
    worked_before_ns_ = worked_ns;
  }
  bool running() const { return running_since_ns_ != 0; }
  // What it has run since it said so. On a busy machine that is less than the time that passed.
  double running_us(std::int64_t now_ns, std::optional<std::int64_t> worked_ns) const;
  double elapsed_ms(std::int64_t now_ns) const;
  double remaining_ms(std::int64_t now_ns, const Progress& progress) const;

 private:
  std::int64_t start_ns_ = 0;
  std::int64_t running_since_ns_ = 0;
  std::optional<std::int64_t> worked_before_ns_ = {};
  double timeout_ms_ = 0;  // of a candidate's calls
  double set_up_ms_ = 0;
  double most_ms_ = 0;  // of the command
};

}  // namespace attune::probe
