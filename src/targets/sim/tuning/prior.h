// What is predicted of a launch before it ran: the cycles that its warps keep their multiprocessors
// busy, by the work of its stages and the memory that they read, spread over as many
// multiprocessors and lanes of warps as the launch fills.
#pragma once

#include "targets/sim/device/machine.h"
#include "tuner/cost_model/cost_model.h"

namespace attune::sim {

class Prior final : public cost_model::CostModel {
 public:
  explicit Prior(const Machine& machine) : machine_(machine) {}
  double predict_us(const space::Scheduled& scheduled) const override;

 private:
  const Machine machine_;
};

}  // namespace attune::sim
