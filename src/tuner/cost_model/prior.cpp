#include "tuner/cost_model/prior.h"

#include <algorithm>

namespace attune::cost_model {
namespace {

constexpr std::size_t kMostRemembered = std::size_t{1} << 20;
constexpr double kDoubt = 8;

// Sums of products about the means, of two inputs and an output.
struct Moments {
  double n = 0, x = 0, c = 0, y = 0, xx = 0, cc = 0, xc = 0, xy = 0, cy = 0;
  void add(double xi, double ci, double yi) {
    n += 1, x += xi, c += ci, y += yi;
    xx += xi * xi, cc += ci * ci, xc += xi * ci, xy += xi * yi, cy += ci * yi;
  }
  double about(double product, double a, double b) const { return product - a * b / n; }
};

}  // namespace

Prior::Prior(bool analytic, std::shared_ptr<PointFeatures> features,
             std::shared_ptr<const GlobalModel> global)
    : analytic_(analytic), features_(std::move(features)), global_(std::move(global)) {}

double Prior::log_us(const space::Point& point, double predicted_us, Trust trust) const {
  double sum = 0;
  if (analytic_) sum += trust.analytic * log_time(predicted_us);
  if (global_) sum += trust.history * correction(point, predicted_us);
  return sum;
}

double Prior::correction(const space::Point& point, double predicted_us) const {
  if (!global_) return 0;
  const std::uint64_t key = space::hash(point);
  if (const auto known = corrections_.find(key); known != corrections_.end()) {
    return static_cast<double>(known->second);
  }
  if (corrections_.size() == kMostRemembered) corrections_.clear();
  const double value = global_->correction(features_->row(point, predicted_us));
  corrections_.emplace(key, static_cast<float>(value));
  return static_cast<double>(static_cast<float>(value));
}

// Least squares over what ran; that both can be trusted in full counts as much as kDoubt lessons.
Trust Prior::trust(std::span<const Lesson> lessons) const {
  Moments m;
  for (const Lesson& lesson : lessons) {
    const space::Candidate& tried = *lesson.candidate;
    if (!tried.time_us) continue;
    m.add(analytic_ ? log_time(tried.predicted_us) : 0,
          correction(*tried.point, tried.predicted_us), lesson.log_us);
  }
  if (m.n < 2) return {};
  const double xx = m.about(m.xx, m.x, m.x), cc = m.about(m.cc, m.c, m.c);
  const double xc = m.about(m.xc, m.x, m.c);
  const double rx = kDoubt * xx / m.n + 1e-9, rc = kDoubt * cc / m.n + 1e-9;
  const double xy = m.about(m.xy, m.x, m.y) + rx, cy = m.about(m.cy, m.c, m.y) + rc;
  const double determinant = (xx + rx) * (cc + rc) - xc * xc;
  return {std::clamp((xy * (cc + rc) - cy * xc) / determinant, 0.0, 1.5),
          std::clamp((cy * (xx + rx) - xy * xc) / determinant, 0.0, 1.5)};
}

}  // namespace attune::cost_model
