#include "tuner/cost_model/descent.h"

#include <algorithm>
#include <optional>
#include <unordered_map>

namespace attune::cost_model {
namespace {

constexpr int kMostTurns = 6;
// Choices of one knob that are looked at, spread evenly over all.
constexpr std::size_t kChoices = 48;
// Knobs with no more choices are turned two at a time where one alone leads nowhere.
constexpr std::size_t kFewChoices = 16;
// A knob is turned for what is predicted to be clearly faster; else it stays as it is by default.
constexpr double kClearly = 0.95;

class Descent {
 public:
  Descent(const space::Space& space, const CostModel& model) : space_(space), model_(model) {}

  void run(const space::Point& start) {
    space::Point point = start;
    std::optional<double> best = look_at(point, true);
    if (!best) best = nearest_legal(point);
    if (!best) return;
    for (int turns = 0; turns < kMostTurns; ++turns) {
      space::Point next = point;
      double least = *best * kClearly;
      for (std::size_t knob = 0; knob < point.choices.size(); ++knob) {
        turn(point, knob, next, least);
      }
      if (next == point) return;
      point = std::move(next);
      best = least;
    }
  }

  // Again from the fastest one, which need not lie on the way: what is hardly faster is passed by.
  void run_from_fastest() {
    if (seen_.empty()) return;
    const auto fastest = std::min_element(seen_.begin(), seen_.end(),
                                          [](const auto& a, const auto& b) { return a.us < b.us; });
    run(space::Point(fastest->point));
  }

  std::vector<PredictedPoint> fastest(std::size_t most) {
    std::stable_sort(seen_.begin(), seen_.end(),
                     [](const auto& a, const auto& b) { return a.us < b.us; });
    std::vector<PredictedPoint> result;
    std::vector<std::uint64_t> hashes;
    for (const PredictedPoint& seen : seen_) {
      if (result.size() == most) break;
      const std::uint64_t hash = schedule::hash(space_.trace_of(seen.point));
      if (std::find(hashes.begin(), hashes.end(), hash) != hashes.end()) continue;
      hashes.push_back(hash);
      result.push_back(seen);
    }
    return result;
  }

 private:
  // Nothing for what is rejected.
  std::optional<double> look_at(const space::Point& point, bool is_default = false) {
    const auto [known, is_new] = known_.try_emplace(space::hash(point));
    if (!is_new) return known->second;
    const auto scheduled = space_.schedule_of(point);
    if (!scheduled.ok()) return std::nullopt;
    const double us = model_.predict_us(*scheduled);
    known->second = us;
    seen_.push_back({point, us, is_default});
    return us;
  }

  // A default that is rejected gives way to the best of its neighbours that are not.
  std::optional<double> nearest_legal(space::Point& point) {
    std::optional<double> best;
    space::Point chosen = point;
    for (const space::Point& other : space_.neighbours(point)) {
      const std::optional<double> us = look_at(other);
      if (us && (!best || *us < *best)) best = us, chosen = other;
    }
    point = std::move(chosen);
    return best;
  }

  // What one knob can make of the point, if that is faster than what is known.
  void turn(const space::Point& point, std::size_t knob, space::Point& fastest, double& least) {
    const std::size_t count = space_.knobs(point.alternative)[knob].choices.size();
    const std::size_t looked_at = std::min(count, kChoices);
    for (std::size_t i = 0; i < looked_at; ++i) {
      space::Point other = point;
      other.choices[knob] = static_cast<std::uint32_t>(i * count / looked_at);
      std::optional<double> us = look_at(other);
      if (!us && count <= kFewChoices) us = with_another(other, knob);
      if (us && *us < least) least = *us, fastest = other;
    }
  }

  // A choice that is rejected may be allowed with another choice of one other knob: the best of
  // those, which `point` becomes.
  std::optional<double> with_another(space::Point& point, std::size_t turned) {
    std::optional<double> best;
    space::Point chosen = point;
    for (std::size_t knob = 0; knob < point.choices.size(); ++knob) {
      const std::size_t count = space_.knobs(point.alternative)[knob].choices.size();
      if (knob == turned || count > kFewChoices) continue;
      space::Point other = point;
      for (std::uint32_t choice = 0; choice < count; ++choice) {
        if (choice == point.choices[knob]) continue;
        other.choices[knob] = choice;
        const std::optional<double> us = look_at(other);
        if (us && (!best || *us < *best)) best = us, chosen = other;
      }
    }
    point = std::move(chosen);
    return best;
  }

  const space::Space& space_;
  const CostModel& model_;
  std::unordered_map<std::uint64_t, std::optional<double>> known_;  // by point
  std::vector<PredictedPoint> seen_;
};

}  // namespace

std::vector<PredictedPoint> fastest_predicted(const space::Space& space, const CostModel& model,
                                              std::size_t most) {
  Descent descent(space, model);
  for (const space::Point& start : space.defaults()) descent.run(start);
  descent.run_from_fastest();
  return descent.fastest(most);
}

}  // namespace attune::cost_model
