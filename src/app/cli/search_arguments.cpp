#include "app/cli/search_arguments.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

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

}  // namespace

SearchArguments::SearchArguments(CommandLine& line) {
  const api::MeasuringOptions measuring;
  line.group("search");
  line.text("--explorer", "NAME", search_.explorer,
            choice_text(explore::explorer_names(), search_.explorer));
  line.text("--model", "NAME", search_.learner.name,
            choice_text(model::learner_names(), search_.learner.name));
  line.text("--features", "KIND", search_.learner.features,
            "what trees and networks see: knob, context or relation (relation)");
  line.text("--acquisition", "RULE", search_.learner.acquisition,
            "how uncertainty counts: mean, optimism or improvement (optimism)");
  line.number("--ensemble", "N", ensemble_, 1, 64, "models that vote, for the uncertainty (1)");
  line.number("--batch", "N", batch_, 1, 10'000,
              "candidates of a round (24; 16 where the tasks of a model share the time)");
  line.real("--epsilon", "E", epsilon_, 0, 1,
            fmt::format("part of a batch drawn at random ({})", search_.random_share));
  line.number("--chains", "N", chains_, 1, 10'000,
              fmt::format("chains of the annealing ({})", search_.chains));
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
  line.number("--repeats", "N", repeats_, 1, 10'000,
              "timings of a promising candidate, a millisecond each (15; 5 in a model)");
  line.group("");
}

void SearchArguments::apply(api::TuneOptions& options) const {
  options.search = search_;
  explore::SearchOptions& search = options.search;
  if (ensemble_) search.learner.ensemble = static_cast<int>(*ensemble_);
  if (chains_) search.chains = static_cast<std::size_t>(*chains_);
  if (steps_) search.steps = search.first_steps = static_cast<int>(*steps_);
  search.random_share = epsilon_.value_or(search.random_share);
  search.new_choice = diversity_.value_or(search.new_choice);
  search.pool = pool_.value_or(search.pool);
  search.reject_hopeless = !no_reject_;
  api::MeasuringOptions& measuring = options.measuring;
  if (batch_) measuring.batch = static_cast<int>(*batch_);
  if (repeats_) measuring.repeats = static_cast<int>(*repeats_);
  measuring.timeout_seconds = timeout_.value_or(measuring.timeout_seconds);
}

}  // namespace attune::cli
