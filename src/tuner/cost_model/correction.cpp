#include "tuner/cost_model/correction.h"

#include <algorithm>
#include <cmath>

namespace attune::cost_model {
namespace {

// Variances of the parts of the kernel, in squared log units: ratios differ by some ten percent
// between the choices of a knob.
constexpr double kMainVariance = 0.04;
constexpr double kJointVariance = 0.04;
constexpr double kAlternativeVariance = 0.04;
constexpr double kNoises[] = {0.0004, 0.0025, 0.01, 0.04};
constexpr double kLengthSquared = 2.0;  // of log2 of a tile size
constexpr double kUnrelated = 0.3;      // similarity of two settings of a switch

double distance_squared(const space::Choice& a, const space::Choice& b) {
  double sum = 0;
  for (std::size_t i = 0; i < std::min(a.numbers.size(), b.numbers.size()); ++i) {
    const double x = std::log2(static_cast<double>(std::max<std::int64_t>(a.numbers[i], 1)));
    const double y = std::log2(static_cast<double>(std::max<std::int64_t>(b.numbers[i], 1)));
    sum += (x - y) * (x - y);
  }
  return sum;
}

float similarity(const space::Knob& knob, std::size_t a, std::size_t b) {
  if (a == b) return 1;
  const bool sizes = knob.kind == space::KnobKind::Split ||
                     (knob.kind == space::KnobKind::Choice && knob.choices.size() > 3);
  // Zero is a switch among sizes: "none", "all at once".
  const bool zero = knob.choices[a].numbers[0] == 0 || knob.choices[b].numbers[0] == 0;
  if (!sizes || zero) return static_cast<float>(kUnrelated);
  const double d = distance_squared(knob.choices[a], knob.choices[b]);
  return static_cast<float>(0.95 * std::exp(-0.5 * d / kLengthSquared));
}

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

std::size_t row(std::size_t i) { return i * (i + 1) / 2; }

}  // namespace

Correction::Correction(const space::Space& space) {
  for (std::uint32_t i = 0; i < space.alternatives(); ++i) {
    Alternative alternative;
    for (const space::Knob& knob : space.knobs(i)) {
      KnobTable table{knob.choices.size(), {}};
      for (std::size_t a = 0; a < table.choices; ++a) {
        for (std::size_t b = 0; b < table.choices; ++b) {
          table.similarity.push_back(similarity(knob, a, b));
        }
      }
      alternative.knobs.push_back(std::move(table));
    }
    alternatives_.push_back(std::move(alternative));
  }
}

double Correction::kernel(const space::Point& a, const space::Point& b) const {
  if (a.alternative != b.alternative) return 0;
  const auto& knobs = alternatives_[a.alternative].knobs;
  double sum = 0, product = 1;
  for (std::size_t k = 0; k < knobs.size(); ++k) {
    const double s =
        static_cast<double>(knobs[k].similarity[a.choices[k] * knobs[k].choices + b.choices[k]]);
    sum += s;
    product *= s;
  }
  return kAlternativeVariance + kMainVariance * sum + kJointVariance * product;
}

std::vector<double> Correction::kernel_row(const space::Point& point) const {
  std::vector<double> values(known_.size());
  for (std::size_t i = 0; i < known_.size(); ++i) values[i] = kernel(point, known_[i].point);
  return values;
}

bool Correction::factorise(double noise) {
  const std::size_t n = known_.size();
  cholesky_.assign(row(n), 0);
  for (std::size_t i = 0; i < n; ++i) {
    double* const li = &cholesky_[row(i)];
    for (std::size_t j = 0; j <= i; ++j) {
      const double* const lj = &cholesky_[row(j)];
      double sum = kernel(known_[i].point, known_[j].point) + (i == j ? noise : 0);
      for (std::size_t k = 0; k < j; ++k) sum -= li[k] * lj[k];
      if (i == j && sum <= 0) return false;
      li[j] = i == j ? std::sqrt(sum) : sum / lj[j];
    }
  }
  weights_.resize(n);
  for (std::size_t i = 0; i < n; ++i) {
    double sum = known_[i].log_ratio - offset_;
    for (std::size_t k = 0; k < i; ++k) sum -= cholesky_[row(i) + k] * weights_[k];
    weights_[i] = sum / cholesky_[row(i) + i];
  }
  return true;
}

// Up to a constant; `weights_` holds the forward solution.
double Correction::log_evidence() const {
  double evidence = 0;
  for (std::size_t i = 0; i < known_.size(); ++i) {
    evidence -= 0.5 * weights_[i] * weights_[i] + std::log(cholesky_[row(i) + i]);
  }
  return evidence;
}

void Correction::fit(std::vector<Residual> residuals) {
  known_ = std::move(residuals);
  weights_.clear();
  if (known_.empty()) return;
  std::vector<double> ratios;
  for (const Residual& residual : known_) ratios.push_back(residual.log_ratio);
  offset_ = median(std::move(ratios));
  double best_noise = kNoises[0], best_evidence = -1e300;
  for (double noise : kNoises) {
    if (!factorise(noise)) continue;
    if (const double evidence = log_evidence(); evidence > best_evidence) {
      best_evidence = evidence;
      best_noise = noise;
    }
  }
  CHECK(factorise(best_noise), "the kernel is not positive definite");
  for (std::size_t i = known_.size(); i-- > 0;) {
    for (std::size_t k = i + 1; k < known_.size(); ++k) {
      weights_[i] -= cholesky_[row(k) + i] * weights_[k];
    }
    weights_[i] /= cholesky_[row(i) + i];
  }
}

double Correction::mean(const space::Point& point) const {
  double sum = offset_;
  for (std::size_t i = 0; i < weights_.size(); ++i) {
    sum += weights_[i] * kernel(point, known_[i].point);
  }
  return sum;
}

double Correction::deviation(const space::Point& point) const {
  double variance = kernel(point, point);
  std::vector<double> v = kernel_row(point);
  for (std::size_t i = 0; i < v.size(); ++i) {
    for (std::size_t k = 0; k < i; ++k) v[i] -= cholesky_[row(i) + k] * v[k];
    v[i] /= cholesky_[row(i) + i];
    variance -= v[i] * v[i];
  }
  return std::sqrt(std::max(0.0, variance));
}

}  // namespace attune::cost_model
