#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>

#include "tuner/explore/annealing.h"
#include "tuner/explore/random.h"

namespace attune::explore {
namespace {

struct ExplorerDef {
  std::string_view name;
  std::unique_ptr<Explorer> (*make)(const space::Space&, const model::CostModel&);
};

template <typename T>
std::unique_ptr<Explorer> make(const space::Space& space, const model::CostModel& model) {
  return std::make_unique<T>(space, model);
}

constexpr std::array<ExplorerDef, 2> kExplorers{{
    {"annealing", make<AnnealingExplorer>},
    {"random", make<RandomExplorer>},
}};

}  // namespace

std::vector<std::string_view> explorer_names() {
  std::vector<std::string_view> names;
  for (const ExplorerDef& def : kExplorers) names.push_back(def.name);
  return names;
}

Result<std::unique_ptr<Explorer>> make_explorer(std::string_view name, const space::Space& space,
                                                const model::CostModel& model) {
  for (const ExplorerDef& def : kExplorers) {
    if (def.name == name) return def.make(space, model);
  }
  return invalid(fmt::format("unknown explorer '{}'", name),
                 fmt::format("explorers are {}", fmt::join(explorer_names(), ", ")));
}

}  // namespace attune::explore
