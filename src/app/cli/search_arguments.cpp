#include "app/cli/search_arguments.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <utility>

namespace attune::cli {
namespace {

// "annealing, genetic, random or grid (annealing)"
std::string choice_text(const std::vector<std::string_view>& names, const std::string& standard) {
  std::string text;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (i > 0) text += i + 1 < names.size() ? ", " : " or ";
    text += names[i];
  }
  return fmt::format("{} ({})", text, standard);
}

using Uses = cost_model::LearnerUses;

// An option that the model does not look at, and the models that do.
Error idle(const char* option, const std::string& model, bool Uses::*use) {
  std::vector<std::string_view> others;
  for (const std::string_view name : cost_model::learner_names()) {
    if (cost_model::uses_of(name).*use) others.push_back(name);
  }
  return invalid(fmt::format("{} has no effect on the model '{}'", option, model),
                 fmt::format("leave it out, or choose --model {}", fmt::join(others, ", ")));
}

}  // namespace

SearchArguments::SearchArguments(CommandLine& line) {
  const whole_model::MeasuringOptions measuring;
  line.group("search");
  line.text("--explorer", "NAME", search_.explorer,
            choice_text(explore::explorer_names(), search_.explorer));
  line.text("--model", "NAME", model_,
            "of the annealing: " + choice_text(cost_model::learner_names(), search_.learner.name));
  line.text("--features", "KIND", features_,
            "what xgb models see: knob, context or relation (relation)");
  line.text("--analytic", "USE", analytic_,
            "the analytic prediction in xgb and treegru models: none, feature (xgb only), prior or "
            "both (both)");
  line.text(
      "--acquisition", "RULE", acquisition_,
      "how uncertainty counts, in gp and ensembles: mean, optimism or improvement (optimism)");
  line.number("--ensemble", "N", ensemble_, 1, 64,
              "xgb or treegru models that vote, for the uncertainty (1)");
  line.number("--batch", "N", batch_, 1, 10'000,
              "candidates of a round (24; 16 where the tasks of a model share the time)");
  line.real(
      "--epsilon", "E", epsilon_, 0, 1,
      fmt::format("part of a batch of the annealing drawn at random ({})", search_.random_share));
  line.number("--chains", "N", chains_, 1, 10'000,
              fmt::format("chains of the annealing ({}); small spaces are scored whole, unless "
                          "this or --steps is given",
                          search_.chains));
  line.number("--steps", "N", steps_, 1, 1'000'000,
              "their steps in a round (what 15 % of its time allow)");
  line.real("--diversity", "A", diversity_, 0, 1000,
            fmt::format("what a choice new to a batch is worth, in deviations of the scores ({})",
                        search_.new_choice));
  line.real("--pool", "L", pool_, 1, 1000,
            fmt::format("a batch is chosen among L times as many candidates ({})", search_.pool));
  line.flag("--no-reject", no_reject_, "measure even what is known to be hopeless");
  line.real("--timeout", "S", timeout_, 0.001, 3600,
            fmt::format("seconds that a candidate may run ({})", measuring.timeout_seconds));
  line.real("--build-timeout", "S", build_timeout_, 0.001, 3600,
            fmt::format("seconds that building a candidate may take ({})",
                        measuring.build_timeout_seconds));
  line.number("--repeats", "N", repeats_, 1, 10'000,
              "timings of a promising candidate, a millisecond each (15; 5 in a model)");
  line.group("");
}

Status SearchArguments::apply(whole_model::TuneOptions& options) const {
  options.search = search_;
  explore::SearchOptions& search = options.search;
  cost_model::LearnerOptions& learner = search.learner;
  if (!model_.empty()) learner.name = model_;
  if (!features_.empty()) learner.features = features_;
  if (!analytic_.empty()) learner.analytic = analytic_;
  if (!acquisition_.empty()) learner.acquisition = acquisition_;
  if (ensemble_) learner.ensemble = static_cast<int>(*ensemble_);
  if (chains_) search.chains = static_cast<std::size_t>(*chains_);
  if (steps_) search.steps = search.first_steps = static_cast<int>(*steps_);
  if (chains_ || steps_) search.score_whole = 0;
  search.random_share = epsilon_.value_or(search.random_share);
  search.new_choice = diversity_.value_or(search.new_choice);
  search.pool = pool_.value_or(search.pool);
  search.reject_hopeless = !no_reject_;
  whole_model::MeasuringOptions& measuring = options.measuring;
  if (batch_) measuring.batch = static_cast<int>(*batch_);
  if (repeats_) measuring.repeats = static_cast<int>(*repeats_);
  measuring.timeout_seconds = timeout_.value_or(measuring.timeout_seconds);
  measuring.build_timeout_seconds = build_timeout_.value_or(measuring.build_timeout_seconds);
  ATTUNE_RETURN_IF_ERROR(explore::check(search));
  return check_effects(search);
}

Status SearchArguments::check_effects(const explore::SearchOptions& search) const {
  const std::pair<const char*, bool> of_annealing[] = {
      {"--model", !model_.empty()},
      {"--features", !features_.empty()},
      {"--analytic", !analytic_.empty()},
      {"--acquisition", !acquisition_.empty()},
      {"--ensemble", ensemble_.has_value()},
      {"--chains", chains_.has_value()},
      {"--steps", steps_.has_value()},
      {"--epsilon", epsilon_.has_value()},
      {"--diversity", diversity_.has_value()},
      {"--pool", pool_.has_value()},
  };
  for (const auto& [option, given] : of_annealing) {
    if (!given || search.explorer == "annealing") continue;
    return invalid(fmt::format("{} has no effect on the explorer '{}'", option, search.explorer),
                   "leave it out, or search with --explorer annealing");
  }
  const cost_model::LearnerOptions& learner = search.learner;
  const cost_model::LearnerUses uses = cost_model::uses_of(learner.name);
  const bool votes = learner.ensemble > 1;
  if (!features_.empty() && !uses.features)
    return idle("--features", learner.name, &Uses::features);
  if (!analytic_.empty() && !uses.analytic)
    return idle("--analytic", learner.name, &Uses::analytic);
  if (votes && !uses.ensemble) return idle("--ensemble", learner.name, &Uses::ensemble);
  if (analytic_ == "feature" && !uses.features) {
    return invalid(fmt::format("the model '{}' cannot take the analytic prediction as a feature",
                               learner.name),
                   "choose --analytic prior or none");
  }
  if (acquisition_.empty() || uses.acquisition || (uses.ensemble && votes)) return {};
  if (!uses.ensemble) return idle("--acquisition", learner.name, &Uses::acquisition);
  return invalid(fmt::format("--acquisition has no effect on a single model '{}', which does not "
                             "know how uncertain it is",
                             learner.name),
                 "add --ensemble with 2 models or more");
}

}  // namespace attune::cli
