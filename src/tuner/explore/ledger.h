// The book of an explorer: what was predicted for which point, what was rejected and why, what was
// proposed and what came of it.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "tuner/explore/explorer.h"

namespace attune::explore {

struct Entry {
  space::Point point;
  std::uint64_t trace_hash = 0;
  double predicted_us = 0;
  bool finished = false;
  std::optional<double> measured_us;
};

class Ledger {
 public:
  Ledger(const Surroundings& surroundings, bool reject_hopeless)
      : space_(surroundings.space), model_(surroundings.model), reject_hopeless_(reject_hopeless) {}

  const space::Space& space() const { return space_; }
  // The predicted time, or nothing for a rejected point; looked up when asked again.
  std::optional<double> predicted_us(const space::Point& point);
  bool proposed(const space::Point& point) const;
  // Makes the proposal, unless the point is rejected or its trace was proposed or is known.
  std::optional<Proposal> propose(const space::Point& point, const Hashes& known);
  // Findings about traces that were not proposed count too where the space is small enough to tell
  // which point has the trace; others are ignored.
  void record(std::span<const Finding> findings);

  const std::vector<Entry>& entries() const { return entries_; }
  const space::RejectionCounts& rejections() const { return rejections_; }
  std::size_t looked_at() const { return predictions_.size(); }

  // As JSON text; points by their index.
  std::string save() const;
  Status load(std::string_view saved);

 private:
  void adopt(const Finding& finding);
  // Above this a point is not worth the time it would take.
  double ceiling_us();

  const space::Space& space_;
  const model::CostModel& model_;
  bool reject_hopeless_;
  std::unordered_map<std::uint64_t, double> predictions_;  // by point; negative: rejected
  std::unordered_map<std::uint64_t, std::size_t> by_trace_;
  std::unordered_map<std::uint64_t, std::uint64_t> all_traces_;  // hash to index of the point
  Hashes proposed_points_;
  std::vector<Entry> entries_;
  space::RejectionCounts rejections_;
  std::optional<double> ceiling_us_;
};

}  // namespace attune::explore
