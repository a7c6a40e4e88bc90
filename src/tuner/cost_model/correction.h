// What measurements say about the analytic model: a Gaussian process over the points of a space
// that learns log(measured / predicted). Its kernel is a constant, plus one similarity per knob,
// plus the product of all of them: main effects are learnt from a handful of points, interactions
// where there are more. Similarities are tables over the choices of a knob, so a prediction costs a
// few look-ups per known point.
#pragma once

#include <cstdint>
#include <vector>

#include "tuner/space/space.h"

namespace attune::cost_model {

// What the prediction of a point leaves unexplained.
struct Residual {
  space::Point point;
  double log_ratio;  // of measured to predicted time
};

class Correction {
 public:
  explicit Correction(const space::Space& space);

  // Learns from all residuals given; what was learnt before is forgotten.
  void fit(std::vector<Residual> residuals);

  // The expected log ratio; 0 before anything was learnt.
  double mean(const space::Point& point) const;
  // The standard deviation of that; costs the square of the number of residuals.
  double deviation(const space::Point& point) const;

 private:
  struct KnobTable {
    std::size_t choices = 0;
    std::vector<float> similarity;  // choices x choices
  };
  struct Alternative {
    std::vector<KnobTable> knobs;
  };

  double kernel(const space::Point& a, const space::Point& b) const;
  std::vector<double> kernel_row(const space::Point& point) const;
  bool factorise(double noise);
  double log_evidence() const;

  std::vector<Alternative> alternatives_;
  std::vector<Residual> known_;
  double offset_ = 0;             // the median log ratio
  std::vector<double> cholesky_;  // lower triangle, row by row
  std::vector<double> weights_;   // solution for the centred ratios
};

}  // namespace attune::cost_model
