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

// "annealing" or "random"; space and model must outlive the explorer.
Result<std::unique_ptr<Explorer>> make_explorer(std::string_view name, const space::Space& space,
                                                const model::CostModel& model);
std::vector<std::string_view> explorer_names();

}  // namespace attune::explore
