#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "tuner/cost_model/learner_def.h"

namespace attune::cost_model {
namespace {

constexpr std::array<std::string_view, 4> kAnalyticUses{"none", "feature", "prior", "both"};

std::span<const LearnerDef> learners() {
  static const LearnerDef all[] = {
#define ATTUNE_LEARNER(name) name##_learner(),
#include "tuner/cost_model/list.inc"
  };
  return all;
}

const LearnerDef* find_learner(std::string_view name) {
  const auto all = learners();
  const auto found =
      std::find_if(all.begin(), all.end(), [&](const LearnerDef& def) { return def.name == name; });
  return found == all.end() ? nullptr : &*found;
}

}  // namespace

std::vector<std::string_view> learner_names() {
  std::vector<std::string_view> names;
  for (const LearnerDef& def : learners()) names.push_back(def.name);
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
