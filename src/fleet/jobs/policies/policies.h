// All policies by name, one file each, and the ranks that several of them share.
#pragma once

#include "fleet/jobs/scheduler/policy.h"

namespace attune::jobs {

// First come, first served.
Rank by_arrival(const StageView& stage);
std::optional<Rank> rank_sequential(const View& view, const StageView& stage);
std::optional<Rank> rank_unscheduled(const View& view, const StageView& stage);
std::optional<Rank> rank_synchronised(const View& view, const StageView& stage);
std::optional<Rank> rank_greedy(const View& view, const StageView& stage);
std::optional<Rank> rank_fair(const View& view, const StageView& stage);
std::optional<Rank> rank_greedy_bundled(const View& view, const StageView& stage);
std::optional<Rank> rank_fair_bundled(const View& view, const StageView& stage);
std::optional<Rank> rank_makespan(const View& view, const StageView& stage);
std::optional<Rank> rank_latency(const View& view, const StageView& stage);
std::optional<Rank> rank_fair_share(const View& view, const StageView& stage);
Rank queue_latency(const View& view, const JobView& job);
Rank queue_fair_share(const View& view, const JobView& job);

inline constexpr Policy kSequential{"sequential", "one job after the other", rank_sequential};
inline constexpr Policy kUnscheduled{"unscheduled", "no coordination, stages slow each other down",
                                     rank_unscheduled, false};
inline constexpr Policy kSynchronised{"synchronised", "stages of all jobs start together",
                                      rank_synchronised, false};
inline constexpr Policy kGreedy{"greedy", "a job keeps its resource while it can use it",
                                rank_greedy};
inline constexpr Policy kFair{"fair", "first come, first served, for each resource", rank_fair};
inline constexpr Policy kGreedyBundled{
    "greedy-bundled", "greedy, stages of a job that follow on one resource as one unit",
    rank_greedy_bundled};
inline constexpr Policy kFairBundled{
    "fair-bundled", "fair, stages of a job that follow on one resource as one unit",
    rank_fair_bundled};
inline constexpr Policy kMakespan{
    "makespan", "what leads to most work elsewhere first: all end early", rank_makespan};
inline constexpr Policy kLatency{.name = "latency",
                                 .summary = "the job with least work left first: each ends early",
                                 .rank = rank_latency,
                                 .queue = queue_latency};
inline constexpr Policy kFairShare{
    .name = "fair-share",
    .summary = "the job that fell behind its share most first, by priority and quota",
    .rank = rank_fair_share,
    .queue = queue_fair_share,
    .has_quotas = true};

}  // namespace attune::jobs
