// The analytic model of devices with blocks and threads: every launch takes its start, and then as
// long as the busiest multiprocessor computes and waits, or as shared memory, the second-level
// cache or memory deliver, whichever is longest, smoothed. Fetches that run ahead are waited for
// where the slabs before them end too early. It needs nothing but the schedule and target.launch;
// its constants are ratios, fitted to 180 kernels of 37 convolutions and products on one card, of
// which 25 are no layers that tests or benches name.
#pragma once

#include "compiler/target/target.h"
#include "tuner/cost_model/cost_model.h"
#include "tuner/cost_model/launches/launch_work.h"

namespace attune::cost_model {

// Where the time of a launch goes if each part had the device for itself, and all of it.
struct LaunchCost {
  double compute_us = 0, matrix_us = 0, shared_us = 0, l2_us = 0, dram_us = 0, wait_us = 0;
  double us = 0;
};

LaunchCost launch_cost(const LaunchWork& work, const target::LaunchFacts& device);

class LaunchModel : public CostModel {
 public:
  explicit LaunchModel(const target::Target& target) : device_(target.launch) {}
  double predict_us(const space::Scheduled& scheduled) const override;

 private:
  const target::LaunchFacts device_;
};

}  // namespace attune::cost_model
