// How long stages will take: what is usual for their kind, times how this job compares with what is
// usual, learnt from its own stages. A geometric mean, so that one slow stage does not spoil it.
#pragma once

#include <cstdint>
#include <vector>

namespace attune::jobs {

class Predictor {
 public:
  // Seconds that are usual for each kind.
  explicit Predictor(std::vector<double> usual_seconds) : usual_(std::move(usual_seconds)) {}

  double seconds(std::uint32_t kind) const;
  void observe(std::uint32_t kind, double seconds);

 private:
  std::vector<double> usual_;
  double log_ratios_ = 0;
  double observed_ = 0;
};

}  // namespace attune::jobs
