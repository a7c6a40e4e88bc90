#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>

#include "tuner/explore/annealing.h"
#include "tuner/explore/random.h"

namespace attune::explore {
namespace {

using Made = Result<std::unique_ptr<Explorer>>;

struct ExplorerDef {
  std::string_view name;
  Made (*make)(const SearchOptions&, const Surroundings&);
};

Made make_annealing(const SearchOptions& options, const Surroundings& surroundings) {
  ATTUNE_ASSIGN(auto learner,
                model::make_learner(options.learner, surroundings.space, surroundings.history));
  return std::unique_ptr<Explorer>(
      std::make_unique<AnnealingExplorer>(options, surroundings, std::move(learner)));
}

Made make_random(const SearchOptions& options, const Surroundings& surroundings) {
  return std::unique_ptr<Explorer>(std::make_unique<RandomExplorer>(options, surroundings));
}

constexpr std::array kExplorers{
    ExplorerDef{"annealing", make_annealing},
    ExplorerDef{"random", make_random},
};

}  // namespace

std::vector<std::string_view> explorer_names() {
  std::vector<std::string_view> names;
  for (const ExplorerDef& def : kExplorers) names.push_back(def.name);
  return names;
}

std::string to_string(const SearchOptions& o) {
  return fmt::format("{} {}-{} {}x{} {} a{} e{} t{}-{} c{}x{}/{} w{} p{} r{:d}", o.explorer,
                     o.learner.name, o.learner.features, o.learner.acquisition, o.learner.ensemble,
                     o.learner.optimism, o.new_choice, o.random_share, o.hot, o.cold, o.chains,
                     o.steps, o.first_steps, o.score_whole, o.pool, o.reject_hopeless);
}

Result<std::unique_ptr<Explorer>> make_explorer(const SearchOptions& options,
                                                const Surroundings& surroundings) {
  for (const ExplorerDef& def : kExplorers) {
    if (def.name == options.explorer) return def.make(options, surroundings);
  }
  return invalid(fmt::format("unknown explorer '{}'", options.explorer),
                 fmt::format("explorers are {}", fmt::join(explorer_names(), ", ")));
}

}  // namespace attune::explore
