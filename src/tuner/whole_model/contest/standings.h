// Who is fastest among several that run in turns, by what their rounds say beyond doubt. The first
// is the one that stays unless another is faster: ties are its own. Of two runners the ratios of
// their rounds are looked at, in which a mood of the machine that both meet cancels out, and the
// interval in which their median lies, by order statistics alone: no noise is too ill-mannered.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace attune::whole_model {

struct Interval {
  double low = 0, high = 0;
};

// How many deviations of the sign test from an even share of signs are wrong so seldom.
inline constexpr double kOnceInAHundred = 2.6, kOnceInAThousand = 3.3;

// In which the median of what these are drawn from lies; nothing is sure of fewer than seven. They
// may have any order.
Interval median_interval(std::vector<double> values, double deviations = kOnceInAHundred);

enum class Standing {
  Faster,
  Slower,
  AsFast,  // slower by less than a hundredth, if at all
  Open,
};
// Of one against another, by the rounds that both were in: the first ones of each.
Standing standing_of(std::span<const double> one, std::span<const double> other,
                     double deviations = kOnceInAHundred);

class Standings {
 public:
  explicit Standings(std::size_t runners);

  // Those that are not beaten yet; each of them has one time in every round.
  const std::vector<std::size_t>& running() const { return running_; }
  void add(std::size_t runner, double sample_ms) { samples_ms_[runner].push_back(sample_ms); }
  std::size_t rounds() const { return samples_ms_[running_.front()].size(); }
  // Those to which another is faster run no more. No later round mends that, so it takes less
  // doubt.
  void drop_beaten();

  double median_ms(std::size_t runner) const;

  // The fastest of those that beat the first; where none does, the first. `exact`: times are
  // counted, so that one round is as good as many.
  std::size_t winner(bool exact = false) const;
  // The same, but where rounds leave it open, the fastest by its median ratio to the first: if that
  // is what is `promised` of the ratio by what was measured elsewhere. Two doubtful witnesses who
  // agree are believed.
  std::size_t winner_as_promised(double promised) const;
  // Whether more rounds would not change that.
  bool is_decided() const;
  // Whether more rounds would tell nothing new of any two that matter.
  bool is_ranked() const;

 private:
  // The fastest that still runs but for the first; 0 when that is alone.
  std::size_t challenger() const;

  Standing standing(std::size_t one, std::size_t other) const {
    return standing_of(samples_ms_[one], samples_ms_[other]);
  }
  bool is_beaten(std::size_t runner) const;

  std::vector<std::vector<double>> samples_ms_;  // of each, round by round
  std::vector<std::size_t> running_;             // in order
};

}  // namespace attune::whole_model
