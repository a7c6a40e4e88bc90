// What a person sees while tuning goes on: a table that changes in place on a terminal, a line now
// and then elsewhere.
#pragma once

#include <string>

#include "app/cli/console.h"
#include "tuner/whole_model/report/tune_progress.h"

namespace attune::cli {

// "matmul:…  48/128 trials  best 24.1 µs, 88.9 GFLOP/s (92 % of peak)  2 timed_out  5 s left"
std::string progress_text(const whole_model::TuneProgress& progress);

class TuneDisplay {
 public:
  explicit TuneDisplay(Console& console) : console_(console) {}
  void show(const whole_model::TuneProgress& progress);

 private:
  Console& console_;
  double next_seconds_ = 0;  // when the next line, or the next drawing of the table, is due
};

}  // namespace attune::cli
