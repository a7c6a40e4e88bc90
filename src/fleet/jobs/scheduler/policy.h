// A policy says which of the ready stages goes first, and which of the jobs that wait for a worker.
// All of them share one way of giving out what is free, `plan`: a pure function of the view. Stages
// are never interrupted, and nothing stays idle that a ready stage could use, unless a rule forbids
// the pair, the policy lets a stage wait, or one that needs several units waited for too long.
#pragma once

#include <array>
#include <compare>
#include <optional>
#include <string_view>
#include <vector>

#include "fleet/jobs/scheduler/view.h"

namespace attune::jobs {

// Compared from the front; less goes first.
using Rank = std::array<double, 3>;

// Important jobs first, then in the order of their coming.
Rank queue_by_priority(const View& view, const JobView& job);

struct Policy {
  std::string_view name;
  std::string_view summary;
  // Nothing: the stage must wait.
  std::optional<Rank> (*rank)(const View&, const StageView&);
  // False: stages start although nothing is free, and slow each other down.
  bool coordinated = true;
  // Of a job that waits for a worker.
  Rank (*queue)(const View&, const JobView&) = queue_by_priority;
  bool has_quotas = false;  // of users; others know none
};

// Which of view.ready to start now, in this order.
std::vector<std::size_t> plan(const View& view, const Policy& policy);

}  // namespace attune::jobs
