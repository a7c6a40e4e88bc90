#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "tuner/explore/explorer_def.h"

namespace attune::explore {
namespace {

std::span<const ExplorerDef> explorers() {
  static const ExplorerDef all[] = {
#define ATTUNE_EXPLORER(name) name##_explorer(),
#include "tuner/explore/list.inc"
  };
  return all;
}

}  // namespace

std::vector<std::string_view> explorer_names() {
  std::vector<std::string_view> names;
  for (const ExplorerDef& def : explorers()) names.push_back(def.name);
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
  const auto all = explorers();
  const auto def = std::find_if(all.begin(), all.end(),
                                [&](const ExplorerDef& d) { return d.name == options.explorer; });
  return def->make(options, context);
}

}  // namespace attune::explore
