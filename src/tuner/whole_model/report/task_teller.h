// Tells how far the tuning of an operator is: what its one session says, in the words of the
// programming interface.
#pragma once

#include <cstdint>

#include "base/clock.h"
#include "tuner/session/report.h"
#include "tuner/whole_model/tune.h"

namespace attune::whole_model {

class TaskTeller final : public session::Observer {
 public:
  // All must outlive it.
  TaskTeller(const TuneOptions& options, const Progressed& progressed, const Clock& clock,
             std::int64_t start_ns, double peak_gflops)
      : options_(options),
        progressed_(progressed),
        clock_(clock),
        start_ns_(start_ns),
        peak_gflops_(peak_gflops) {}

  void progressed(const session::Progress& progress) override;

 private:
  const TuneOptions& options_;
  const Progressed& progressed_;
  const Clock& clock_;
  std::int64_t start_ns_;
  double peak_gflops_;
};

}  // namespace attune::whole_model
