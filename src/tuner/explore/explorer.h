// Explorers choose which candidates of a space are measured next. All their state can be saved as
// text and loaded again; with the same seed and the same measurements they propose the same
// candidates, and never one twice.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "base/result.h"
#include "base/rng.h"
#include "compiler/schedule/trace.h"
#include "tuner/model/cost_model.h"
#include "tuner/model/learner.h"
#include "tuner/space/space.h"

namespace attune::explore {

struct Proposal {
  space::Point point;
  schedule::Trace trace;
  std::uint64_t trace_hash = 0;
  double predicted_us = 0;
};

// What became of a proposal. Without a time the candidate itself failed (did not build, crashed,
// was too slow to finish, gave a wrong answer); trouble of the infrastructure is not reported here.
struct Finding {
  std::uint64_t trace_hash = 0;
  std::optional<double> measured_us;
};

using Hashes = std::unordered_set<std::uint64_t>;

class Explorer {
 public:
  virtual ~Explorer() = default;

  // Up to `batch` candidates that were not proposed before and whose traces are not among `known`;
  // fewer only when the space has no more. The first batch begins with the defaults.
  virtual std::vector<Proposal> select(std::size_t batch, const Hashes& known, Rng& rng) = 0;
  // Findings about traces that were not proposed here are used where the space is small enough to
  // recognise them, and ignored otherwise.
  virtual void update(std::span<const Finding> findings) = 0;
  // A select came back short: everything there is was proposed.
  virtual bool exhausted() const = 0;
  // How many points were looked at and rejected, by reason.
  virtual space::RejectionCounts rejections() const = 0;

  virtual std::string save() const = 0;
  // Into an explorer that has not been used yet.
  virtual Status load(std::string_view saved) = 0;
};

// What can be set about a search. Explorers take what concerns them.
struct SearchOptions {
  std::string explorer = "annealing";  // of explorer_names()
  model::LearnerOptions learner = {};
  std::size_t chains = 32;           // of annealing
  int steps = 60;                    // per chain and round
  int first_steps = 200;             // in the first round
  double hot = 0.3, cold = 0.01;     // temperatures of annealing, in log time
  std::uint64_t score_whole = 8192;  // spaces up to this size are scored point by point
  double random_share = 0.05;        // of a batch, drawn at random (epsilon)
  double new_choice = 0.02;     // alpha: gain in log time that a choice new to the batch is worth
  std::size_t pool = 256;       // most promising points among which a batch is chosen
  bool reject_hopeless = true;  // points predicted far slower than the default are not tried
};

// What an explorer works with; all must outlive it. `history` may be null.
struct Surroundings {
  const space::Space& space;
  const model::CostModel& model;
  const model::History* history = nullptr;
};

Result<std::unique_ptr<Explorer>> make_explorer(const SearchOptions& options,
                                                const Surroundings& surroundings);
std::vector<std::string_view> explorer_names();
// All that decides about the choice of candidates, as text: sessions resume only with the same.
std::string to_string(const SearchOptions& options);

}  // namespace attune::explore
