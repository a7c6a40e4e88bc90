#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "tuner/explore/annealing.h"
#include "tuner/explore/genetic.h"
#include "tuner/explore/grid.h"
#include "tuner/explore/random.h"

namespace attune::explore {
namespace {

using Made = Result<std::unique_ptr<Explorer>>;

struct ExplorerDef {
  std::string_view name;
  Made (*make)(const SearchOptions&, const SearchContext&);
};

Made make_annealing(const SearchOptions& options, const SearchContext& context) {
  ATTUNE_ASSIGN(auto learner,
                cost_model::make_learner(options.learner, context.space, context.history));
  return std::unique_ptr<Explorer>(
      std::make_unique<AnnealingExplorer>(options, context, std::move(learner)));
}

// Those that predict nothing.
template <typename Kind>
Made make(const SearchOptions& options, const SearchContext& context) {
  return std::unique_ptr<Explorer>(std::make_unique<Kind>(options, context));
}

constexpr std::array kExplorers{
    ExplorerDef{"annealing", make_annealing},
    ExplorerDef{"genetic", make<GeneticExplorer>},
    ExplorerDef{"random", make<RandomExplorer>},
    ExplorerDef{"grid", make<GridExplorer>},
};

}  // namespace

std::vector<std::string_view> explorer_names() {
  std::vector<std::string_view> names;
  for (const ExplorerDef& def : kExplorers) names.push_back(def.name);
  return names;
}

std::string to_string(const SearchOptions& o) {
  return fmt::format(
      "{} model=({}) seed={} chains={}x{}/{} heat={}-{} whole={} population={}/{}/{} epsilon={} "
      "alpha={} lambda={} reject={:d} defaults={:d}",
      o.explorer, cost_model::to_string(o.learner), o.learner.seed, o.chains, o.steps,
      o.first_steps, o.hot, o.cold, o.score_whole, o.population, o.elites, o.mutation,
      o.random_share, o.new_choice, o.pool, o.reject_hopeless, o.defaults_first);
}

Status check(const SearchOptions& options) {
  const auto names = explorer_names();
  if (std::find(names.begin(), names.end(), options.explorer) == names.end()) {
    return invalid(fmt::format("unknown explorer '{}'", options.explorer),
                   fmt::format("explorers are {}", fmt::join(names, ", ")));
  }
  return cost_model::check(options.learner);
}

Result<std::unique_ptr<Explorer>> make_explorer(const SearchOptions& options,
                                                const SearchContext& context) {
  ATTUNE_RETURN_IF_ERROR(check(options));
  const auto def = std::find_if(kExplorers.begin(), kExplorers.end(),
                                [&](const ExplorerDef& d) { return d.name == options.explorer; });
  return def->make(options, context);
}

}  // namespace attune::explore
