// A space of numbers without a program worth speaking of, as large as a test likes.
#pragma once

#include "base/check.h"
#include "tuner/space/sample_template_testing.h"

namespace attune::explore {

class KnobsSpace : public space::Space {
 public:
  // One alternative with `knobs` knobs of `choices` choices each.
  KnobsSpace(std::size_t knobs, std::size_t choices)
      : target_(space::sample_target()),
        state_(schedule::initial_state(space::sample_program(4, 4, 4))) {
    std::vector<std::int64_t> numbers;
    for (std::size_t i = 0; i < choices; ++i) numbers.push_back(std::int64_t{1} << i);
    for (std::size_t k = 0; k < knobs; ++k) {
      knobs_.push_back(space::choice_of("k" + std::to_string(k), numbers));
    }
  }

  std::uint64_t size() const override { return space::config_count(knobs_); }
  space::Point point_at(std::uint64_t index) const override {
    return {0, space::config_at(knobs_, index)};
  }
  std::uint64_t index_of(const space::Point& point) const override {
    return space::index_of(knobs_, point.choices);
  }
  space::Point sample(Rng& rng) const override { return point_at(rng.below(size())); }
  std::vector<space::Point> neighbours(const space::Point& point) const override {
    std::vector<space::Point> all;
    for (std::size_t k = 0; k < knobs_.size(); ++k) {
      for (std::uint32_t choice = 0; choice < knobs_[k].choices.size(); ++choice) {
        if (choice == point.choices[k]) continue;
        all.push_back(point);
        all.back().choices[k] = choice;
      }
    }
    return all;
  }
  space::Point neighbour(const space::Point& point, Rng& rng) const override {
    const auto all = neighbours(point);
    return all[rng.below(all.size())];
  }
  std::vector<space::Point> defaults() const override { return {point_at(0)}; }
  schedule::Trace trace_of(const space::Point& point) const override {
    schedule::Split split{"output", "i", {}};
    for (std::uint32_t choice : point.choices) split.factors.push_back(choice + 1);
    return {split};
  }
  Result<space::Scheduled> schedule_of(const space::Point&) const override {
    return space::Scheduled{state_, {}};
  }
  std::string to_string(const space::Point& point) const override {
    return space::to_string(knobs_, point.choices);
  }
  const target::Target& target() const override { return target_; }
  std::size_t alternatives() const override { return 1; }
  const std::vector<space::Knob>& knobs(std::uint32_t) const override { return knobs_; }
  double effort_us(std::uint32_t) const override { return 20; }

 private:
  target::Target target_;
  schedule::State state_;
  std::vector<space::Knob> knobs_;
};

// The least where every choice is the third.
inline double knobs_cost_us(const space::Point& point) {
  double cost = 100;
  for (std::uint32_t choice : point.choices)
    cost *= 1 + 0.2 * std::abs(static_cast<int>(choice) - 2);
  return cost;
}

}  // namespace attune::explore
