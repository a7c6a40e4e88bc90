#include "tuner/cost_model/analytic.h"

#include <algorithm>
#include <cmath>

#include "tuner/cost_model/stage_cost.h"
#include "tuner/space/nest.h"

namespace attune::cost_model {
namespace {

using space::StageNest;

struct Threads {
  double speed = 1;  // how many times faster than one thread, by the number of iterations
  double forks = 0;  // how often all threads are started; with fewer, a part each time
};

Threads threads_of(const StageNest& nest, const target::Target& target) {
  double outside = 1;
  for (std::size_t i = 0; i < nest.levels.size(); ++i) {
    const double extent = static_cast<double>(nest.levels[i].extent);
    if (nest.levels[i].kind != ir::LoopKind::Parallel) {
      outside *= extent;
      continue;
    }
    const double started = std::min<double>(extent, target.threads) - 1;
    const double part = started / std::max(1, target.threads - 1);  // they are started in turn
    return {nest.levels[i].speed(target.threads), i >= nest.own ? outside * part : 0};
  }
  return {};
}

double shared(double speed, double most) { return std::min(speed, most); }

double cube(double x) { return x * x * x; }

// How much longer arithmetic and loads take one after the other than side by side.
double late_us(double compute_us, double loads_us) {
  return compute_us + loads_us - std::cbrt(cube(compute_us) + cube(loads_us));
}

// Weights that come from memory at every run. Arithmetic hides next to nothing of that: kernels
// read them in blocks that they use again and again, and wait for the next one.
double cold_us(const Traffic& traffic, double threads, const MachineModel& machine) {
  const double sent = traffic.cold / machine.dram_bandwidth * 1e-3 / machine.ghz /
                      shared(threads, machine.dram_sharing);
  if (traffic.cold_at_once <= 0) return sent;
  return std::max(sent, traffic.cold / traffic.cold_at_once * machine.dram_latency_us / threads);
}

}  // namespace

Prediction predict(const space::Scheduled& scheduled, const target::Target& target,
                   bool cold_weights) {
  const MachineModel machine(target);
  const schedule::State& state = scheduled.state;
  Prediction prediction;
  prediction.stages.resize(state.stages.size());
  const std::vector<StageNest> nests = space::loop_nests(state, scheduled.bounds, target.threads);
  std::vector<StageCost> nest_costs(state.stages.size());
  const double us_per_cycle = 1e-3 / machine.ghz;
  for (std::size_t i = 0; i < state.stages.size(); ++i) {
    if (nests[i].ahead) continue;
    const Threads threads = threads_of(nests[i], target);
    const Traffic traffic =
        memory_traffic(state, scheduled.bounds[i], nests, i, {target, machine, cold_weights});
    StageCost& cost = prediction.stages[i];
    cost.compute_us = compute_cycles(state, scheduled.bounds[i], nests[i], i, target, machine) *
                      us_per_cycle / shared(threads.speed, machine.compute_sharing);
    cost.l2_us = traffic.from_l2 / machine.l2_bandwidth * us_per_cycle / threads.speed;
    cost.l3_us = traffic.from_l3 / machine.l3_bandwidth * us_per_cycle /
                 shared(threads.speed, machine.l3_sharing);
    cost.dram_us = traffic.from_dram / machine.dram_bandwidth * us_per_cycle /
                   shared(threads.speed, machine.dram_sharing);
    const double pairs = std::max(1.0, threads.speed - 1);  // of neighbours, all at the same time
    cost.cores_us = traffic.from_cores / machine.exchange_bandwidth * us_per_cycle / threads.speed +
                    traffic.lines_of_two / pairs * machine.line_exchange_us;
    cost.late_us = late_us(cost.compute_us, traffic.in_bursts * cost.l3_us) +
                   cold_us(traffic, threads.speed, machine);
    StageCost& nest = nest_costs[nests[i].root];
    nest.compute_us += cost.compute_us;
    nest.l2_us += cost.l2_us;
    nest.l3_us += cost.l3_us;
    nest.dram_us += cost.dram_us;
    nest.cores_us += cost.cores_us;
    nest.late_us += cost.late_us;
    if (target.threads > 1) prediction.us += threads.forks * machine.fork_join_us;
  }
  for (std::size_t i = 0; i < state.stages.size(); ++i) {
    const StageCost& nest = nest_costs[i];
    prediction.stages[i].nest_us = std::cbrt(cube(nest.compute_us) + cube(nest.l2_us) +
                                             cube(nest.l3_us) + cube(nest.dram_us)) +
                                   nest.cores_us + nest.late_us;
    prediction.us += prediction.stages[i].nest_us;
  }
  return prediction;
}

double AnalyticModel::predict_us(const space::Scheduled& scheduled) const {
  return predict(scheduled, target_, cold_weights_).us;
}

}  // namespace attune::cost_model
