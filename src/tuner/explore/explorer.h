// Explorers choose which candidates of a space are measured next. They tell as text what changed in
// them, and can be made again from that; with the same seed and the same measurements they propose
// the same candidates, and never one twice.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "base/result.h"
#include "base/rng.h"
#include "tuner/cost_model/cost_model.h"
#include "tuner/cost_model/learner.h"
#include "tuner/space/candidate.h"

namespace attune::explore {

using Hashes = std::unordered_set<std::uint64_t>;

class Explorer {
 public:
  virtual ~Explorer() = default;

  // Up to `batch` candidates that were not proposed before and whose traces are not among `known`,
  // which names all that are finished; fewer only when the space has no more.
  virtual std::vector<space::Candidate> select(std::size_t batch, const Hashes& known,
                                               Rng& rng) = 0;
  // Candidates that were not proposed here count where their points can be told from their traces:
  // all in small spaces, and in others as many as there is time for.
  virtual void update(std::span<const space::Candidate> tried) = 0;
  // A select came back short: everything there is was proposed.
  virtual bool exhausted() const = 0;
  // How many points were looked at and rejected, by reason.
  virtual space::RejectionCounts rejections() const = 0;

  // What changed since this was last asked: about as much as was proposed and found meanwhile,
  // however much there was before.
  virtual std::string changes() = 0;
  // All changes so far, in order, into an explorer that has not been used yet.
  virtual Status restore(std::span<const std::string> changes) = 0;
};

// What can be set about a search. Explorers take what concerns them.
struct SearchOptions {
  std::string explorer = "annealing";  // of explorer_names()
  cost_model::LearnerOptions learner = {};
  // Of annealing. Temperatures are in standard deviations of the scores.
  std::size_t chains = 32;
  int steps = 0;        // per chain and round; 0: as many as a small part of a round allows
  int first_steps = 0;  // in the first round
  double hot = 0.6, cold = 0.02;
  std::uint64_t score_whole = 8192;  // spaces up to this size are scored point by point
  // Of the genetic search.
  std::size_t population = 100, elites = 3;
  double mutation = 0.1;  // probability, per knob
  // Of all that predict.
  double random_share = 0.05;  // of a batch, drawn at random (epsilon)
  double new_choice = 0.03;    // alpha: what a choice new to the batch is worth, in deviations
  double pool = 8;             // lambda: a batch is chosen among so many times as many
  // Of annealing and the genetic search: the first batch holds the defaults.
  bool defaults_first = true;
  // Of all.
  bool reject_hopeless = true;  // points that need not be measured to know better are not tried
};

// What an explorer works with; all must outlive it. `history` may be null.
struct SearchContext {
  const space::Space& space;
  const cost_model::CostModel& model;
  const cost_model::History* history = nullptr;
};

// Whether all names are known and all numbers make sense.
Status check(const SearchOptions& options);
Result<std::unique_ptr<Explorer>> make_explorer(const SearchOptions& options,
                                                const SearchContext& context);
std::vector<std::string_view> explorer_names();
// All that decides about the choice of candidates, as text: sessions resume only with the same.
std::string to_string(const SearchOptions& options);

}  // namespace attune::explore
