#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>

#include "tuner/model/analytic_learner.h"
#include "tuner/model/gp_learner.h"

namespace attune::model {
namespace {

using Made = Result<std::unique_ptr<Learner>>;

struct LearnerDef {
  std::string_view name;
  Made (*make)(const LearnerOptions&, const space::Space&, const History*);
};

Made make_gp(const LearnerOptions& options, const space::Space& space, const History*) {
  return std::unique_ptr<Learner>(std::make_unique<GpLearner>(options, space));
}

Made make_analytic(const LearnerOptions&, const space::Space&, const History*) {
  return std::unique_ptr<Learner>(std::make_unique<AnalyticLearner>());
}

constexpr std::array kLearners{
    LearnerDef{"gp", make_gp},
    LearnerDef{"analytic", make_analytic},
};

}  // namespace

std::vector<std::string_view> learner_names() {
  std::vector<std::string_view> names;
  for (const LearnerDef& def : kLearners) names.push_back(def.name);
  return names;
}

Result<std::unique_ptr<Learner>> make_learner(const LearnerOptions& options,
                                              const space::Space& space, const History* history) {
  for (const LearnerDef& def : kLearners) {
    if (def.name == options.name) return def.make(options, space, history);
  }
  return invalid(fmt::format("unknown model '{}'", options.name),
                 fmt::format("models are {}", fmt::join(learner_names(), ", ")));
}

}  // namespace attune::model
