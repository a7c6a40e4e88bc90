// What other tasks taught: features of schedules and how fast they were, relative to the best of
// their task, so that they can be learnt from together whatever the shapes. Relation features are
// made for that; other kinds serve to see what they are worth.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tuner/features/features.h"

namespace attune::cost_model {

class History {
 public:
  // All trials of one task, on one target with one kind of weights.
  struct Group {
    std::string task_key;
    std::string target;
    std::size_t width = 0;         // of one feature vector
    std::vector<float> features;   // one vector after the other
    std::vector<float> log_ratio;  // of the time to the best time of the group; failures carry the
                                   // worst of the group
    std::vector<float> analytic;   // log of predicted microseconds, less its least in the group
  };

  // Smaller groups say too little.
  static constexpr std::size_t kLeastOfGroup = 8;

  explicit History(features::Kind kind = features::Kind::Relation) : kind_(kind) {}

  features::Kind kind() const { return kind_; }
  void add(Group group) { groups_.push_back(std::move(group)); }
  const std::vector<Group>& groups() const { return groups_; }
  bool empty() const { return groups_.empty(); }

 private:
  features::Kind kind_;
  std::vector<Group> groups_;
};

}  // namespace attune::cost_model
