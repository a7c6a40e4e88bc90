// What a person sees while tuning goes on: one line that changes on a terminal, a line now and then
// elsewhere.
#pragma once

#include <string>

#include "app/api/tune.h"
#include "app/cli/console.h"

namespace attune::cli {

// "matmul:…  48/128 trials  best 24.1 µs, 88.9 GFLOP/s (92 % of peak)  2 timed_out  ETA 5 s"
std::string progress_text(const api::TuneProgress& progress);

class TuneProgressLine {
 public:
  explicit TuneProgressLine(Console& console) : console_(console) {}
  void show(const api::TuneProgress& progress);

 private:
  Console& console_;
  double next_seconds_ = 0;  // when the next plain line is due
};

}  // namespace attune::cli
