#include "tuner/explore/annealing.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "tuner/explore/batch.h"
#include "tuner/explore/random.h"

namespace attune::explore {
namespace {

constexpr int kStartDraws = 200;  // tries to find a point that is not rejected

bool better(const Entry* a, const Entry* b) { return *a->measured_us < *b->measured_us; }

std::vector<const Entry*> measured_best_first(const Ledger& ledger) {
  std::vector<const Entry*> entries;
  for (const Entry& entry : ledger.entries()) {
    if (entry.measured_us) entries.push_back(&entry);
  }
  std::stable_sort(entries.begin(), entries.end(), better);
  return entries;
}

}  // namespace

AnnealingExplorer::AnnealingExplorer(const SearchOptions& options, const Surroundings& surroundings,
                                     std::unique_ptr<model::Learner> learner)
    : options_(options),
      ledger_(surroundings, options.reject_hopeless),
      learner_(std::move(learner)) {}

std::optional<double> AnnealingExplorer::score(const space::Point& point) {
  const auto us = ledger_.predicted_us(point);
  if (!us) return std::nullopt;
  const model::Query query{&point, *us};
  double result = 0;
  learner_->score({&query, 1}, {&result, 1});
  return result;
}

void AnnealingExplorer::score_all(std::vector<Scored>& pool) {
  const space::Space& space = ledger_.space();
  for (std::uint64_t i = 0; i < space.size(); ++i) {
    const space::Point point = space.point_at(i);
    if (const auto s = score(point)) pool.push_back({point, *s});
  }
}

void AnnealingExplorer::walk(std::vector<Scored>& pool, Rng& rng) {
  const space::Space& space = ledger_.space();
  const bool first = chains_.empty();
  if (first) chains_ = space.defaults();
  while (chains_.size() < options_.chains) chains_.push_back(space.sample(rng));
  const auto best = measured_best_first(ledger_);
  for (std::size_t i = 0; i < std::min<std::size_t>(best.size(), 4); ++i) {
    chains_[chains_.size() - 1 - i] = best[i]->point;
  }
  const int steps = first ? options_.first_steps : options_.steps;
  const double cooling = std::pow(options_.cold / options_.hot, 1.0 / steps);
  for (space::Point& at : chains_) {
    auto now = score(at);
    for (int tries = 0; !now && tries < kStartDraws; ++tries) now = score(at = space.sample(rng));
    if (!now) continue;
    pool.push_back({at, *now});
    double temperature = options_.hot;
    for (int step = 0; step < steps; ++step, temperature *= cooling) {
      space::Point next = space.neighbour(at, rng);
      const auto then = score(next);
      if (!then) continue;
      pool.push_back({next, *then});
      if (*then <= *now || rng.chance(std::exp((*now - *then) / temperature))) {
        at = std::move(next);
        now = then;
      }
    }
  }
}

void AnnealingExplorer::add_neighbours_of_best(std::vector<Scored>& pool) {
  const auto best = measured_best_first(ledger_);
  for (std::size_t i = 0; i < std::min<std::size_t>(best.size(), 3); ++i) {
    for (space::Point& point : ledger_.space().neighbours(best[i]->point)) {
      if (const auto s = score(point)) pool.push_back({std::move(point), *s});
    }
  }
}

// Points that may be proposed, the most promising first, each once.
std::vector<AnnealingExplorer::Scored> AnnealingExplorer::candidates(Rng& rng) {
  std::vector<Scored> pool;
  if (ledger_.space().size() <= options_.score_whole) {
    score_all(pool);
  } else {
    walk(pool, rng);
    add_neighbours_of_best(pool);
  }
  Hashes seen;
  std::erase_if(pool, [&](const Scored& candidate) {
    return ledger_.proposed(candidate.point) || !seen.insert(space::hash(candidate.point)).second;
  });
  const auto by_score = [](const Scored& a, const Scored& b) { return a.score < b.score; };
  std::stable_sort(pool.begin(), pool.end(), by_score);
  if (pool.size() > options_.pool) pool.resize(options_.pool);
  std::vector<model::Query> queries;
  for (const Scored& candidate : pool) {
    queries.push_back({&candidate.point, *ledger_.predicted_us(candidate.point)});
  }
  std::vector<double> scores(pool.size());
  learner_->acquire(queries, scores);
  for (std::size_t i = 0; i < pool.size(); ++i) pool[i].score = scores[i];
  std::stable_sort(pool.begin(), pool.end(), by_score);
  return pool;
}

std::vector<Proposal> AnnealingExplorer::select(std::size_t batch, const Hashes& known, Rng& rng) {
  std::vector<Proposal> proposals;
  if (ledger_.space().size() == 0) {
    exhausted_ = batch > 0;
    return proposals;
  }
  if (ledger_.entries().empty()) {
    for (const space::Point& point : ledger_.space().defaults()) {
      if (proposals.size() == batch) break;
      if (auto proposal = ledger_.propose(point, known)) proposals.push_back(std::move(*proposal));
    }
  }
  const std::vector<Scored> pool = candidates(rng);
  BatchPicker picker(options_.new_choice);
  for (const Proposal& proposal : proposals) picker.include(proposal.point);
  for (const Scored& candidate : pool) picker.add(candidate.point, candidate.score);
  const auto random =
      static_cast<std::size_t>(options_.random_share * static_cast<double>(batch) + rng.uniform());
  while (proposals.size() + random < batch) {
    const space::Point* point = picker.next();
    if (!point) break;
    if (auto proposal = ledger_.propose(*point, known)) {
      picker.include(proposal->point);
      proposals.push_back(std::move(*proposal));
    }
  }
  exhausted_ = !add_random(proposals, batch, ledger_, known, rng);
  return proposals;
}

void AnnealingExplorer::learn() {
  std::vector<model::Example> examples;
  for (const Entry& entry : ledger_.entries()) {
    if (entry.finished) examples.push_back({entry.point, entry.predicted_us, entry.measured_us});
  }
  learner_->fit(examples);
}

void AnnealingExplorer::update(std::span<const Finding> findings) {
  ledger_.record(findings);
  learn();
}

std::string AnnealingExplorer::save() const {
  nlohmann::json document = nlohmann::json::parse(ledger_.save());
  nlohmann::json chains = nlohmann::json::array();
  for (const space::Point& point : chains_) chains.push_back(ledger_.space().index_of(point));
  document["chains"] = std::move(chains);
  return document.dump();
}

Status AnnealingExplorer::load(std::string_view saved) {
  ATTUNE_RETURN_IF_ERROR(ledger_.load(saved));
  const auto document = nlohmann::json::parse(saved, nullptr, false);
  if (const auto chains = document.find("chains"); chains != document.end()) {
    for (const auto& index : *chains) {
      const bool fits = index.is_number_unsigned() && index < ledger_.space().size();
      if (!fits) {
        return Error{ErrorCode::Corrupt, "the saved chains of the search are damaged",
                     "start a new session"};
      }
      chains_.push_back(ledger_.space().point_at(index.get<std::uint64_t>()));
    }
  }
  learn();
  return {};
}

}  // namespace attune::explore
