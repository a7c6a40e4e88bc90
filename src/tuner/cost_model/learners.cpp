#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "base/hash.h"
#include "tuner/cost_model/analytic_learner.h"
#include "tuner/cost_model/ensemble_learner.h"
#include "tuner/cost_model/gp_learner.h"
#include "tuner/cost_model/tree_gru_learner.h"
#include "tuner/cost_model/xgb_learner.h"

namespace attune::cost_model {
namespace {

using Made = Result<std::unique_ptr<Learner>>;

// What learners are made of.
struct Plan {
  const LearnerOptions& options;
  const space::Space& space;
  const History* history;
  AcquisitionRule rule;
};

struct LearnerDef {
  std::string_view name;
  Made (*make)(const Plan&);
  LearnerUses uses;
};

constexpr std::array<std::string_view, 4> kAnalyticUses{"none", "feature", "prior", "both"};

bool analytic_is(const Plan& plan, std::string_view use) {
  return plan.options.analytic == use || plan.options.analytic == "both";
}

// One learner, or as many as the ensemble has members, each with a seed of its own.
template <typename MakeOne>
std::unique_ptr<Learner> replicas(const Plan& plan, const MakeOne& make_one) {
  if (plan.options.ensemble <= 1) return make_one(plan.options.seed);
  std::vector<std::unique_ptr<Learner>> members;
  for (int i = 0; i < plan.options.ensemble; ++i) {
    members.push_back(make_one(hash_combine(plan.options.seed, static_cast<std::uint64_t>(i))));
  }
  return std::make_unique<EnsembleLearner>(std::move(members), plan.rule, plan.options.seed);
}

features::Kind history_kind(const Plan& plan) {
  return plan.history ? plan.history->kind() : features::Kind::Relation;
}

// `rows` are features of the kind that the history has, where there are such already.
std::shared_ptr<const Prior> make_prior(const Plan& plan, bool analytic,
                                        std::shared_ptr<PointFeatures> rows) {
  const features::Kind kind = history_kind(plan);
  std::shared_ptr<const GlobalModel> global;
  if (plan.history) {
    global = GlobalModel::train(*plan.history, features::width(kind, plan.space), 0);
  }
  if (global && !rows) rows = features_of(plan.space, kind);
  return std::make_shared<const Prior>(analytic, std::move(rows), std::move(global));
}

Made make_xgb(const Plan& plan, Objective objective) {
  ATTUNE_ASSIGN(const features::Kind kind, features::parse_kind(plan.options.features));
  auto rows = features_of(plan.space, kind);
  auto prior =
      make_prior(plan, analytic_is(plan, "prior"), kind == history_kind(plan) ? rows : nullptr);
  XgbParts parts{objective, rows, std::move(prior), analytic_is(plan, "feature")};
  if (kind == features::Kind::Knob) parts.typical_us = 3;
  return replicas(plan, [&](std::uint64_t seed) {
    parts.seed = seed;
    return std::unique_ptr<Learner>(std::make_unique<XgbLearner>(parts));
  });
}

Made make_xgb_rank(const Plan& plan) { return make_xgb(plan, Objective::Rank); }
Made make_xgb_regression(const Plan& plan) { return make_xgb(plan, Objective::Regression); }

Made make_tree_gru(const Plan& plan, Objective objective) {
  TreeGruParts parts{objective, std::make_shared<PointTrees>(plan.space),
                     make_prior(plan, analytic_is(plan, "prior"), nullptr)};
  return replicas(plan, [&](std::uint64_t seed) {
    parts.seed = seed;
    return std::unique_ptr<Learner>(std::make_unique<TreeGruLearner>(parts));
  });
}

Made make_tree_gru_rank(const Plan& plan) { return make_tree_gru(plan, Objective::Rank); }
Made make_tree_gru_regression(const Plan& plan) {
  return make_tree_gru(plan, Objective::Regression);
}

Made make_gp(const Plan& plan) {
  return std::unique_ptr<Learner>(
      std::make_unique<GpLearner>(plan.rule, plan.space, make_prior(plan, true, nullptr)));
}

Made make_analytic(const Plan&) {
  return std::unique_ptr<Learner>(std::make_unique<AnalyticLearner>());
}

constexpr LearnerUses kOfTrees{.features = true, .analytic = true, .ensemble = true};
constexpr LearnerUses kOfNetworks{.analytic = true, .ensemble = true};

constexpr std::array kLearners{
    LearnerDef{"gp", make_gp, {.acquisition = true}},
    LearnerDef{"xgb-rank", make_xgb_rank, kOfTrees},
    LearnerDef{"xgb-regression", make_xgb_regression, kOfTrees},
    LearnerDef{"treegru-rank", make_tree_gru_rank, kOfNetworks},
    LearnerDef{"treegru-regression", make_tree_gru_regression, kOfNetworks},
    LearnerDef{"analytic", make_analytic, {}},
};

const LearnerDef* find_learner(std::string_view name) {
  const auto found = std::find_if(kLearners.begin(), kLearners.end(),
                                  [&](const LearnerDef& def) { return def.name == name; });
  return found == kLearners.end() ? nullptr : &*found;
}

}  // namespace

std::vector<std::string_view> learner_names() {
  std::vector<std::string_view> names;
  for (const LearnerDef& def : kLearners) names.push_back(def.name);
  return names;
}

std::string to_string(const LearnerOptions& o) {
  return fmt::format("{} {} {} {}x{} {}", o.name, o.features, o.analytic, o.acquisition, o.ensemble,
                     o.optimism);
}

Status check(const LearnerOptions& options) {
  if (!find_learner(options.name)) {
    return invalid(fmt::format("unknown model '{}'", options.name),
                   fmt::format("models are {}", fmt::join(learner_names(), ", ")));
  }
  ATTUNE_ASSIGN([[maybe_unused]] const auto kind, features::parse_kind(options.features));
  ATTUNE_ASSIGN([[maybe_unused]] const auto rule, parse_acquisition(options.acquisition));
  if (std::find(kAnalyticUses.begin(), kAnalyticUses.end(), options.analytic) ==
      kAnalyticUses.end()) {
    return invalid(fmt::format("unknown use '{}' of the analytic prediction", options.analytic),
                   fmt::format("uses are {}", fmt::join(kAnalyticUses, ", ")));
  }
  return {};
}

LearnerUses uses_of(std::string_view learner) {
  const LearnerDef* def = find_learner(learner);
  return def ? def->uses : LearnerUses{};
}

Result<std::unique_ptr<Learner>> make_learner(const LearnerOptions& options,
                                              const space::Space& space, const History* history) {
  ATTUNE_RETURN_IF_ERROR(check(options));
  ATTUNE_ASSIGN(const Acquisition acquisition, parse_acquisition(options.acquisition));
  return find_learner(options.name)
      ->make({options, space, history, {acquisition, options.optimism}});
}

}  // namespace attune::cost_model
