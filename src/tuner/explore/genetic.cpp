#include "tuner/explore/genetic.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "tuner/explore/explorer_def.h"
#include "tuner/explore/random.h"

namespace attune::explore {
namespace {

constexpr int kFruitlessGenerations = 3;
constexpr int kRepeatedChanges = 20;  // of a child that was there before

}  // namespace

// The last generation, and the elites.
std::vector<GeneticExplorer::Parent> GeneticExplorer::parents() const {
  const auto elites = ledger_.best(std::max<std::size_t>(options_.elites, 1));
  if (elites.empty()) return {};
  const double best_us = *elites.front()->time_us;
  std::vector<Parent> all;
  const auto& candidates = ledger_.candidates();
  for (auto each = candidates.rbegin(); each != candidates.rend(); ++each) {
    if (all.size() >= options_.population) break;
    if (!ledger_.was_tried(*each)) continue;
    all.push_back({&*each->point, each->time_us ? best_us / *each->time_us : 0});
  }
  for (const space::Candidate* elite : elites) {
    const space::Point* point = &*elite->point;
    const bool there = std::any_of(all.begin(), all.end(),
                                   [&](const Parent& parent) { return parent.point == point; });
    if (!there) all.push_back({point, best_us / *elite->time_us});
  }
  return all;
}

// In proportion to fitness, among all or those of an alternative.
const GeneticExplorer::Parent& GeneticExplorer::choose(
    const std::vector<Parent>& parents, Rng& rng, std::optional<std::uint32_t> alternative) const {
  const auto may = [&](const Parent& parent) {
    return !alternative || parent.point->alternative == *alternative;
  };
  double sum = 0;
  for (const Parent& parent : parents) sum += may(parent) ? parent.fitness : 0;
  double left = rng.uniform() * sum;
  const Parent* chosen = nullptr;
  for (const Parent& parent : parents) {
    if (!may(parent) || parent.fitness == 0) continue;
    chosen = &parent;
    left -= parent.fitness;
    if (left < 0) break;
  }
  CHECK(chosen, "somebody is fit");
  return *chosen;
}

void GeneticExplorer::change_one(space::Point& point, Rng& rng) const {
  point = ledger_.space().neighbour(point, rng);
}

space::Point GeneticExplorer::child_of(const std::vector<Parent>& parents, Rng& rng) const {
  space::Point child = *choose(parents, rng, std::nullopt).point;
  const space::Point& other = *choose(parents, rng, child.alternative).point;
  const auto& knobs = ledger_.space().knobs(child.alternative);
  const std::size_t crossing = rng.below(knobs.size() + 1);
  for (std::size_t k = 0; k < knobs.size(); ++k) {
    if (k >= crossing) child.choices[k] = other.choices[k];
    if (rng.chance(options_.mutation)) {
      child.choices[k] = static_cast<std::uint32_t>(rng.below(knobs[k].choices.size()));
    }
  }
  return child;
}

void GeneticExplorer::breed(Rng& rng) {
  const std::vector<Parent> all = parents();
  Hashes born;
  for (std::size_t i = 0; i < options_.population; ++i) {
    if (all.empty()) {
      unborn_.push_back(ledger_.space().sample(rng));
      continue;
    }
    space::Point child = child_of(all, rng);
    const auto repeated = [&] {
      return ledger_.gone(child) || born.contains(space::hash(child)) ||
             !ledger_.predicted_us(child);
    };
    for (int tries = 0; repeated() && tries < kRepeatedChanges; ++tries) change_one(child, rng);
    if (repeated()) continue;
    born.insert(space::hash(child));
    unborn_.push_back(std::move(child));
  }
}

std::vector<space::Candidate> GeneticExplorer::select(std::size_t batch, const Hashes& known,
                                                      Rng& rng) {
  std::vector<space::Candidate> proposals;
  if (ledger_.space().size() == 0) {
    exhausted_ = batch > 0;
    return proposals;
  }
  if (options_.defaults_first) add_defaults(proposals, batch, ledger_, known);
  int fruitless = 0;
  while (proposals.size() < batch && fruitless < kFruitlessGenerations) {
    if (unborn_.empty()) {
      breed(rng);
      ++fruitless;
    }
    while (proposals.size() < batch && !unborn_.empty()) {
      if (auto proposal = ledger_.propose(unborn_.front(), known)) {
        proposals.push_back(std::move(*proposal));
        fruitless = 0;
      }
      unborn_.pop_front();
    }
  }
  exhausted_ = !add_random(proposals, batch, ledger_, known, rng);
  return proposals;
}

void GeneticExplorer::save_own(nlohmann::json& document) const {
  const std::vector<space::Point> unborn(unborn_.begin(), unborn_.end());
  document["unborn"] = save_points(ledger_.space(), unborn);
}

Status GeneticExplorer::load_own(const nlohmann::json& document) {
  ATTUNE_ASSIGN(const auto unborn, load_points(ledger_.space(), document, "unborn"));
  unborn_.assign(unborn.begin(), unborn.end());
  return {};
}

ExplorerDef genetic_explorer() { return {"genetic", make<GeneticExplorer>}; }

}  // namespace attune::explore
