// Scores of points within one selection: asks the analytic model and the learner about many points
// at a time, and about none twice.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "tuner/explore/ledger.h"

namespace attune::explore {

struct Scored {
  space::Point point;
  double score = 0;  // the learner's; less is better
};

class Scorer {
 public:
  Scorer(Ledger& ledger, const cost_model::Learner& learner) : ledger_(ledger), learner_(learner) {}

  // One score per point, nothing for a rejected one.
  std::vector<std::optional<double>> score(std::span<const space::Point> points);
  // How many points the learner was asked about.
  std::size_t asked() const { return asked_; }

 private:
  Ledger& ledger_;
  const cost_model::Learner& learner_;
  std::unordered_map<std::uint64_t, std::optional<double>> known_;  // by point
  std::size_t asked_ = 0;
};

// The most promising points seen, each once, without those that were proposed.
class Pool {
 public:
  Pool(const Ledger& ledger, std::size_t capacity) : ledger_(ledger), capacity_(capacity) {}

  // Whether it is among the most promising now.
  bool add(const space::Point& point, double score);
  // Best first; ties in the order in which they came.
  std::vector<Scored> take();
  // The few most promising of each alternative, best first.
  const std::map<std::uint32_t, std::vector<Scored>>& leaders() const { return leaders_; }

 private:
  struct Member {
    Scored scored;
    std::size_t number;
    bool operator<(const Member& other) const {
      if (scored.score != other.scored.score) return scored.score < other.scored.score;
      return number < other.number;
    }
  };
  void lead(const space::Point& point, double score);

  static constexpr std::size_t kLeaders = 4;
  const Ledger& ledger_;
  std::size_t capacity_;
  std::size_t count_ = 0;
  std::vector<Member> heap_;  // the worst first
  Hashes seen_;
  std::map<std::uint32_t, std::vector<Scored>> leaders_;
};

}  // namespace attune::explore
