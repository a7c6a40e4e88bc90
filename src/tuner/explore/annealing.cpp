#include "tuner/explore/annealing.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <numeric>

#include "tuner/explore/batch.h"
#include "tuner/explore/explorer_def.h"
#include "tuner/explore/random.h"

namespace attune::explore {
namespace {

// What looking at new points may take in a selection. It is compared with estimates, so that what
// is chosen does not depend on how busy the machine is.
constexpr double kSelectionUs = 40'000, kFirstSelectionUs = 100'000, kNeighboursUs = 30'000;
constexpr int kStartDraws = 20;           // tries to find a point that is not rejected, per chain
constexpr std::size_t kReviewed = 32;     // random points that show how scores differ
constexpr std::size_t kBestChains = 4;    // go on from the best that was measured
constexpr int kIdleSteps = 50;            // without a promising new point
constexpr std::size_t kTrialsOfEach = 2;  // alternative, whatever is predicted
constexpr double kFarBehind = 0.4;        // log time
constexpr double kJump = 0.03;            // probability that a chain looks anywhere

bool better(const Scored& a, const Scored& b) { return a.score < b.score; }

double deviation_of(std::span<const double> scores) {
  if (scores.size() < 2) return 1;
  const auto count = static_cast<double>(scores.size());
  const double mean = std::accumulate(scores.begin(), scores.end(), 0.0) / count;
  double squares = 0;
  for (const double score : scores) squares += (score - mean) * (score - mean);
  return std::max(std::sqrt(squares / count), 1e-6);
}

// A run that is cut short has measured the most promising ones. Defaults, which come first, were
// found good before; to come before one, another must promise more than predictions are wrong by.
// With them, while nothing was measured yet, alternatives that promise about the same take turns.
void put_in_order(std::vector<space::Candidate>& batch, std::size_t defaults,
                  const cost_model::Learner& learner) {
  constexpr double kDefaultIsWorth = 0.2, kTurn = 0.03;
  std::vector<cost_model::Query> queries;
  for (const space::Candidate& each : batch) queries.push_back({&*each.point, each.predicted_us});
  std::vector<double> scores(batch.size());
  if (!queries.empty()) learner.score(queries, scores);
  std::vector<std::pair<double, std::size_t>> order;
  for (std::size_t i = 0; i < batch.size(); ++i) {
    order.emplace_back(scores[i] - (i < defaults ? kDefaultIsWorth : 0), i);
  }
  std::sort(order.begin(), order.end());
  std::map<std::uint32_t, int> taken;
  for (auto& [score, i] : order) {
    if (defaults > 0) score += kTurn * taken[batch[i].point->alternative]++;
  }
  std::sort(order.begin(), order.end());
  std::vector<space::Candidate> sorted;
  for (const auto& [us, i] : order) sorted.push_back(std::move(batch[i]));
  batch = std::move(sorted);
}

// A stride that visits every point once, in an order without pattern.
std::uint64_t scan_stride(std::uint64_t size) {
  auto stride = static_cast<std::uint64_t>(0.618 * static_cast<double>(size)) + 1;
  while (std::gcd(stride, size) != 1) ++stride;
  return stride;
}

}  // namespace

AnnealingExplorer::AnnealingExplorer(const SearchOptions& options, const SearchContext& context,
                                     std::unique_ptr<cost_model::Learner> learner)
    : LedgerExplorer(options, context), learner_(std::move(learner)) {}

// What looking at one point costs.
double AnnealingExplorer::effort_us(const space::Point& point) const {
  return ledger_.space().effort_us(point.alternative) + learner_->typical_us();
}

int AnnealingExplorer::steps(bool first) const {
  if (first && options_.first_steps > 0) return options_.first_steps;
  if (options_.steps > 0) return options_.steps;
  double step_us = 0;  // of all chains
  for (const space::Point& point : chains_) step_us += effort_us(point);
  return static_cast<int>((first ? kFirstSelectionUs : kSelectionUs) / step_us) + 1;
}

double AnnealingExplorer::scan(Scorer& scorer, Pool& pool) {
  const space::Space& space = ledger_.space();
  const std::uint64_t size = space.size(), stride = scan_stride(size);
  double left_us = scanned_ == 0 ? kFirstSelectionUs : kSelectionUs;
  std::vector<space::Point> points;
  for (std::uint64_t i = 0, index = 0; i < size; ++i, index = (index + stride) % size) {
    if (i >= scanned_ && left_us <= 0) break;
    points.push_back(space.point_at(index));
    if (i >= scanned_) left_us -= effort_us(points.back());
  }
  scanned_ = points.size();
  const auto scores = scorer.score(points);
  std::vector<double> accepted;
  for (std::size_t i = 0; i < points.size(); ++i) {
    if (!scores[i]) continue;
    accepted.push_back(*scores[i]);
    pool.add(points[i], *scores[i]);
  }
  return deviation_of(accepted);
}

// Chains that stand on a rejected point begin anew.
std::vector<AnnealingExplorer::Chain> AnnealingExplorer::begin_chains(Scorer& scorer, Pool& pool,
                                                                      Rng& rng) {
  const space::Space& space = ledger_.space();
  if (chains_.empty() && options_.defaults_first) chains_ = space.defaults();
  while (chains_.size() < options_.chains) chains_.push_back(space.sample(rng));
  const auto best = ledger_.best(std::min(kBestChains, chains_.size()));
  for (std::size_t i = 0; i < best.size(); ++i) {
    chains_[chains_.size() - 1 - i] = *best[i]->point;
  }
  std::vector<Chain> chains;
  for (space::Point& point : chains_) {
    for (int tries = 0; !ledger_.predicted_us(point) && tries < kStartDraws; ++tries) {
      point = space.sample(rng);
    }
    chains.push_back({point, std::nullopt});
  }
  const auto scores = scorer.score(chains_);
  for (std::size_t i = 0; i < chains.size(); ++i) {
    chains[i].score = scores[i];
    if (scores[i]) pool.add(chains[i].point, *scores[i]);
  }
  return chains;
}

bool AnnealingExplorer::step_chains(std::vector<Chain>& chains, double temperature, Scorer& scorer,
                                    Pool& pool, Rng& rng) {
  const space::Space& space = ledger_.space();
  std::vector<space::Point> next;
  next.reserve(chains.size());
  for (const Chain& chain : chains) {
    const bool jumps = !chain.score || rng.chance(kJump);
    next.push_back(jumps ? space.sample(rng) : space.neighbour(chain.point, rng));
  }
  const auto scores = scorer.score(next);
  bool fruitful = false;
  for (std::size_t i = 0; i < chains.size(); ++i) {
    const double luck = rng.uniform();
    if (!scores[i]) continue;
    fruitful |= pool.add(next[i], *scores[i]);
    Chain& chain = chains[i];
    if (!chain.score || luck < std::exp((*chain.score - *scores[i]) / temperature)) {
      chain = {std::move(next[i]), scores[i]};
    }
  }
  return fruitful;
}

double AnnealingExplorer::walk(Scorer& scorer, Pool& pool, Rng& rng) {
  const bool first = chains_.empty();
  std::vector<Chain> chains = begin_chains(scorer, pool, rng);
  std::vector<space::Point> review;
  for (std::size_t i = 0; i < kReviewed; ++i) review.push_back(ledger_.space().sample(rng));
  const auto reviewed = scorer.score(review);
  std::vector<double> accepted;
  for (std::size_t i = 0; i < review.size(); ++i) {
    if (!reviewed[i]) continue;
    accepted.push_back(*reviewed[i]);
    pool.add(review[i], *reviewed[i]);
  }
  for (const Chain& chain : chains) {
    if (accepted.size() < 2 && chain.score) accepted.push_back(*chain.score);
  }
  const double deviation = deviation_of(accepted);
  const int count = steps(first);
  const double cooling = std::pow(options_.cold / options_.hot, 1.0 / count);
  double temperature = options_.hot * deviation;
  int idle = 0;
  for (int step = 0; step < count && idle < kIdleSteps; ++step, temperature *= cooling) {
    idle = step_chains(chains, temperature, scorer, pool, rng) ? 0 : idle + 1;
  }
  for (std::size_t i = 0; i < chains.size(); ++i) chains_[i] = std::move(chains[i].point);
  return deviation;
}

// All of them where that takes no longer than a part of the selection, and otherwise any.
void AnnealingExplorer::add_neighbours_of_best(Scorer& scorer, Pool& pool, Rng& rng) {
  const auto best = ledger_.best(3);
  for (const space::Candidate* candidate : best) {
    auto neighbours = ledger_.space().neighbours(*candidate->point);
    const auto most = static_cast<std::size_t>(kNeighboursUs / static_cast<double>(best.size()) /
                                               effort_us(*candidate->point)) +
                      1;
    for (std::size_t i = 0; i < most && neighbours.size() > most; ++i) {
      std::swap(neighbours[i], neighbours[i + rng.below(neighbours.size() - i)]);
    }
    neighbours.resize(std::min(neighbours.size(), most));
    const auto scores = scorer.score(neighbours);
    for (std::size_t i = 0; i < neighbours.size(); ++i) {
      if (scores[i]) pool.add(neighbours[i], *scores[i]);
    }
  }
}

// A prediction that is wrong about a whole alternative must not keep it from being tried: half of
// the first batch goes to all of them alike, and no later batch leaves one out that was hardly
// tried, unless what little was tried shows that it is far behind.
std::vector<space::Point> AnnealingExplorer::leaders_to_try(const Pool& pool,
                                                            std::size_t batch) const {
  std::map<std::uint32_t, std::size_t> trials;
  bool first = true;
  for (const space::Candidate& candidate : ledger_.candidates()) {
    ++trials[candidate.point->alternative];
    first &= !ledger_.was_tried(candidate);
  }
  double best = std::numeric_limits<double>::infinity();
  for (const auto& [alternative, leaders] : pool.leaders()) {
    if (!leaders.empty()) best = std::min(best, leaders[0].score);
  }
  const std::size_t share = batch / 2 / std::max<std::size_t>(pool.leaders().size(), 1);
  const std::size_t wanted = first ? std::max(kTrialsOfEach, share) : kTrialsOfEach;
  std::vector<std::vector<Scored>> ranks;  // the first of each alternative, the second …
  for (const auto& [alternative, leaders] : pool.leaders()) {
    const bool far_behind = leaders.empty() || leaders[0].score > best + kFarBehind;
    if (!first && trials[alternative] > 0 && far_behind) continue;
    for (std::size_t i = 0; i < leaders.size() && trials[alternative] < wanted; ++i) {
      if (ranks.size() <= i) ranks.emplace_back();
      ranks[i].push_back(leaders[i]);
      ++trials[alternative];
    }
  }
  std::vector<space::Point> chosen;
  for (std::vector<Scored>& rank : ranks) {
    std::stable_sort(rank.begin(), rank.end(), better);
    for (Scored& leader : rank) chosen.push_back(std::move(leader.point));
  }
  return chosen;
}

// The most promising points that may be proposed, judged with the uncertainty.
AnnealingExplorer::Prospects AnnealingExplorer::candidates(std::size_t batch, Rng& rng) {
  Scorer scorer(ledger_, *learner_);
  const double wanted = std::ceil(options_.pool * static_cast<double>(batch));
  Pool pool(ledger_, std::max(batch, static_cast<std::size_t>(wanted)));
  Prospects result;
  const bool whole = ledger_.space().size() <= options_.score_whole;
  result.deviation = whole ? scan(scorer, pool) : walk(scorer, pool, rng);
  if (!whole || scanned_ < ledger_.space().size()) add_neighbours_of_best(scorer, pool, rng);
  result.leaders = leaders_to_try(pool, batch);
  result.best = pool.take();
  std::vector<cost_model::Query> queries;
  for (const Scored& candidate : result.best) {
    queries.push_back({&candidate.point, *ledger_.predicted_us(candidate.point)});
  }
  std::vector<double> scores(queries.size());
  if (!queries.empty()) learner_->acquire(queries, scores);
  for (std::size_t i = 0; i < scores.size(); ++i) result.best[i].score = scores[i];
  std::stable_sort(result.best.begin(), result.best.end(), better);
  return result;
}

std::vector<space::Candidate> AnnealingExplorer::select(std::size_t batch, const Hashes& known,
                                                        Rng& rng) {
  std::vector<space::Candidate> proposals;
  if (ledger_.space().size() == 0) {
    exhausted_ = batch > 0;
    return proposals;
  }
  if (options_.defaults_first) add_defaults(proposals, batch, ledger_, known);
  const std::size_t defaults = proposals.size();
  const auto random =
      static_cast<std::size_t>(options_.random_share * static_cast<double>(batch) + rng.uniform());
  const Prospects pool = candidates(batch, rng);
  BatchPicker picker(options_.new_choice * pool.deviation);
  for (const space::Point& point : pool.leaders) {
    if (proposals.size() + random >= batch) break;
    if (auto proposal = ledger_.propose(point, known)) proposals.push_back(std::move(*proposal));
  }
  for (const space::Candidate& proposal : proposals) picker.include(*proposal.point);
  for (const Scored& candidate : pool.best) picker.add(candidate.point, candidate.score);
  while (proposals.size() + random < batch) {
    const space::Point* point = picker.next();
    if (!point) break;
    if (auto proposal = ledger_.propose(*point, known)) {
      picker.include(*proposal->point);
      proposals.push_back(std::move(*proposal));
    }
  }
  exhausted_ = !add_random(proposals, batch, ledger_, known, rng);
  put_in_order(proposals, defaults, *learner_);
  return proposals;
}

void AnnealingExplorer::update(std::span<const space::Candidate> tried) {
  ledger_.record(tried);
  learner_->fit(ledger_.tried());
}

void AnnealingExplorer::save_own(nlohmann::json& document) const {
  document["chains"] = save_points(ledger_.space(), chains_);
  document["scanned"] = scanned_;
}

Status AnnealingExplorer::load_own(const nlohmann::json& document) {
  ATTUNE_ASSIGN(chains_, load_points(ledger_.space(), document, "chains"));
  ATTUNE_ASSIGN(scanned_, load_position(ledger_.space(), document, "scanned"));
  return {};
}

ExplorerDef annealing_explorer() {
  return {"annealing",
          [](const SearchOptions& options,
             const SearchContext& context) -> Result<std::unique_ptr<Explorer>> {
            ATTUNE_ASSIGN(auto learner, cost_model::make_learner(options.learner, context.space,
                                                                 context.history));
            return std::unique_ptr<Explorer>(
                std::make_unique<AnnealingExplorer>(options, context, std::move(learner)));
          }};
}

}  // namespace attune::explore
