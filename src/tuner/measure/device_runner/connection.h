// The process that holds a device, seen from the one that tunes: asked one thing at a time, within
// limits of time that depend on how far it is, and started anew when it was lost.
#pragma once

#include <optional>

#include "tuner/measure/device_runner/device_runner.h"
#include "tuner/measure/device_runner/line.h"
#include "tuner/measure/device_runner/spawned.h"

namespace attune::device_runner {

// An answer, or why there is none.
struct Reply {
  Bytes done = {};
  std::optional<outcome::Outcome> failure = {};
};

class Connection {
 public:
  explicit Connection(DeviceRunnerOptions options) : options_(std::move(options)) {}

  // A process with the device open; the one there is, if it lives.
  Status ensure_open();
  // `phase` is where it stands when it is asked; calls may take `timeout_ms`.
  Reply ask(Kind kind, std::uint64_t id, const Bytes& more, outcome::Phase phase,
            double timeout_ms);
  // What comes next is asked of another process: this one may be spoiled.
  void renew();
  // Of the present process; candidates that another one held are not there any more.
  std::uint64_t generation() const { return generation_; }

 private:
  Reply await_answer(outcome::Phase phase, double timeout_ms);
  double limit_ms(outcome::Phase phase, double timeout_ms) const;
  outcome::Outcome blame_end(outcome::Phase phase);

  const DeviceRunnerOptions options_;
  std::optional<Spawned> process_;
  std::uint64_t generation_ = 0;
};

}  // namespace attune::device_runner
