// How long stages will take: what is usual for their kind, times how this job compares with what is
// usual, learnt from its own stages, of the same kind and, as long as there are few, of all kinds.
// Long stages say more about a job than short ones: means are of seconds, so that counts times
// means are what all of them will take.
#pragma once

#include <cstdint>
#include <vector>

namespace attune::jobs {

class Predictor {
 public:
  // Seconds that are usual for each kind.
  explicit Predictor(std::vector<double> usual_seconds);

  double seconds(std::uint32_t kind) const { return predicted_[kind]; }
  void observe(std::uint32_t kind, double seconds);
  // More is known about what is usual; what was observed stays. Kinds that it does not have are
  // none of its business.
  void set_usual_seconds(std::uint32_t kind, double seconds);

 private:
  double job_factor() const;
  void predict();

  struct Seen {
    double seconds = 0;
    double count = 0;
  };
  std::vector<double> usual_;
  std::vector<Seen> kinds_;
  std::vector<double> predicted_;  // from the two
};

}  // namespace attune::jobs
