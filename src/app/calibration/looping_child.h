// A child process that repeats one piece of work on cores of its own for as long as it is let, and
// says how long each took. Several of them, let loose alone and together, show how much they slow
// each other down.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/child.h"
#include "base/result.h"

namespace attune::calibration {

class LoopingChild {
 public:
  // Makes ready what is repeated, in the child; returns one repetition.
  using Prepare = std::function<Result<std::function<Status()>>()>;

  // Returns when it is ready, for which it has so long; it rests then. The caller must have no
  // other threads.
  static Result<LoopingChild> start(const std::string& what, const std::vector<int>& cores,
                                    const Prepare& prepare, double patience_seconds = 600);
  LoopingChild(LoopingChild&& other) noexcept;
  LoopingChild& operator=(LoopingChild&&) = delete;
  ~LoopingChild();

  void go() const;
  // Returns when it rests.
  void halt() const;
  // Seconds of each repetition that began and ended in this time of the steady clock; the newest
  // few thousand are remembered.
  std::vector<double> repetitions(std::int64_t begin_ns, std::int64_t end_ns) const;

 private:
  struct Notes;  // shared with the child
  LoopingChild(Child child, Notes* notes) : child_(std::move(child)), notes_(notes) {}

  Child child_;
  Notes* notes_ = nullptr;
};

}  // namespace attune::calibration
