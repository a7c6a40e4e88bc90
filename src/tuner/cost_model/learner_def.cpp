#include "tuner/cost_model/learner_def.h"

#include "base/hash.h"
#include "tuner/cost_model/ensemble_learner.h"

namespace attune::cost_model {

bool LearnerPlan::analytic_is(std::string_view use) const {
  return options.analytic == use || options.analytic == "both";
}

features::Kind LearnerPlan::history_kind() const {
  return history ? history->kind() : features::Kind::Relation;
}

std::shared_ptr<const Prior> make_prior(const LearnerPlan& plan, bool analytic,
                                        std::shared_ptr<PointFeatures> rows) {
  const features::Kind kind = plan.history_kind();
  std::shared_ptr<const GlobalModel> global;
  if (plan.history) {
    global = GlobalModel::train(*plan.history, features::width(kind, plan.space), 0);
  }
  if (global && !rows) rows = features_of(plan.space, kind);
  return std::make_shared<const Prior>(analytic, std::move(rows), std::move(global));
}

std::unique_ptr<Learner> replicas(
    const LearnerPlan& plan,
    const std::function<std::unique_ptr<Learner>(std::uint64_t seed)>& make_one) {
  if (plan.options.ensemble <= 1) return make_one(plan.options.seed);
  std::vector<std::unique_ptr<Learner>> members;
  for (int i = 0; i < plan.options.ensemble; ++i) {
    members.push_back(make_one(hash_combine(plan.options.seed, static_cast<std::uint64_t>(i))));
  }
  return std::make_unique<EnsembleLearner>(std::move(members), plan.rule, plan.options.seed);
}

}  // namespace attune::cost_model
