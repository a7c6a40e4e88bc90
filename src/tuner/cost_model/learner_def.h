// What a learner is by name, what it is made of, and all of them, one file each.
#pragma once

#include <functional>

#include "tuner/cost_model/acquisition.h"
#include "tuner/cost_model/learner.h"
#include "tuner/cost_model/prior.h"

namespace attune::cost_model {

// What learners are made of.
struct LearnerPlan {
  const LearnerOptions& options;
  const space::Space& space;
  const History* history;
  AcquisitionRule rule;

  // Whether the analytic prediction is used so, "feature" or "prior".
  bool analytic_is(std::string_view use) const;
  // The kind of features that the history has.
  features::Kind history_kind() const;
};

struct LearnerDef {
  std::string_view name;
  Result<std::unique_ptr<Learner>> (*make)(const LearnerPlan&);
  LearnerUses uses = {};
};

// `rows` are features of the kind that the history has, where there are such already.
std::shared_ptr<const Prior> make_prior(const LearnerPlan& plan, bool analytic,
                                        std::shared_ptr<PointFeatures> rows);

// One learner, or as many as the ensemble has members, each with a seed of its own.
std::unique_ptr<Learner> replicas(
    const LearnerPlan& plan,
    const std::function<std::unique_ptr<Learner>(std::uint64_t seed)>& make_one);

#define ATTUNE_LEARNER(name) LearnerDef name##_learner();
#include "tuner/cost_model/list.inc"

}  // namespace attune::cost_model
