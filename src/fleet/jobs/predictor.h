// How long stages will take: what is usual for their kind, times how this job compares with what is
// usual, learnt from its own stages, of the same kind and, as long as there are few, of all kinds.
// Geometric means, so that one slow stage does not spoil them.
#pragma once

#include <cstdint>
#include <vector>

namespace attune::jobs {

class Predictor {
 public:
  // Seconds that are usual for each kind.
  explicit Predictor(std::vector<double> usual_seconds);

  double seconds(std::uint32_t kind) const;
  void observe(std::uint32_t kind, double seconds);

 private:
  struct Seen {
    double log_ratios = 0;
    double count = 0;
  };
  std::vector<double> usual_;
  Seen all_;
  std::vector<Seen> kinds_;
};

}  // namespace attune::jobs
