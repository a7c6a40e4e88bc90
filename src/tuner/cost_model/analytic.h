// The analytic model: predicted time = max(compute, traffic of each memory level), smoothed, for
// every root stage with those computed inside of it, summed. It needs nothing but the schedule and
// a few numbers of the machine, works on any state, finished or not, and looks at tens of thousands
// of candidates a second (the idea of Pruner's draft model, and of the roofline).
#pragma once

#include <utility>
#include <vector>

#include "compiler/target/target.h"
#include "tuner/cost_model/cost_model.h"

namespace attune::cost_model {

// Where the time of one stage goes if each part had the machine for itself.
struct StageCost {
  double compute_us = 0;
  double l2_us = 0, l3_us = 0, dram_us = 0, cores_us = 0;
  double late_us = 0;  // in which nothing is computed, as nobody asked ahead for what comes
  // With those of all stages that are computed within its loops; 0 for such stages.
  double nest_us = 0;
};

struct Prediction {
  double us = 0;
  std::vector<StageCost> stages;  // zero for stages that are computed ahead of time
};

// The machine is the target's.
// `cold_weights`: constants, and what was computed of them ahead, come from memory each time.
Prediction predict(const space::Scheduled& scheduled, const target::Target& target,
                   bool cold_weights = false);

class AnalyticModel : public CostModel {
 public:
  explicit AnalyticModel(target::Target target, bool cold_weights = false)
      : target_(std::move(target)), cold_weights_(cold_weights) {}
  double predict_us(const space::Scheduled& scheduled) const override;

 private:
  target::Target target_;
  bool cold_weights_;
};

}  // namespace attune::cost_model
