// The two halves of the analytic model: cycles that a stage computes for, and bytes that it moves
// between the levels of memory.
#pragma once

#include "compiler/target/target.h"
#include "tuner/cost_model/machine.h"
#include "tuner/space/nest.h"

namespace attune::cost_model {

// On one core, with all data in the first-level cache.
double compute_cycles(const schedule::State& state, const schedule::StageBounds& bounds,
                      const space::StageNest& nest, std::size_t stage, const target::Target& target,
                      const MachineModel& machine);

// The part of the steps of a sum that read inside of their buffers. Loops are cut where reads leave
// them, so that what lies around, zeros, is not added at all.
double part_inside(const schedule::StageState& stage);

// Bytes that come from the second- and third-level cache, from memory and from other cores, of all
// threads together.
struct Traffic {
  double from_l2 = 0, from_l3 = 0, from_dram = 0, from_cores = 0;
  double lines_of_two = 0;  // cache lines that two threads write to
  double in_bursts = 0;     // the part of from_l3 that comes while a block is used first
  double cold = 0;          // bytes of weights that come from memory at every run
  double cold_at_once = 0;  // of them under way at a time; 0: as many as memory can send
};
struct Memory {
  const target::Target& target;
  const MachineModel& machine;
  bool cold_weights = false;  // those come from memory, whatever the caches have room for
};
Traffic memory_traffic(const schedule::State& state, const schedule::StageBounds& bounds,
                       const std::vector<space::StageNest>& nests, std::size_t stage,
                       const Memory& memory);

// Whether those who use a block again and again ask for the next one meanwhile.
bool asks_ahead(const schedule::StageState& stage, const schedule::StageBounds& bounds);

// Arithmetic instructions per element of a value; index arithmetic and loads are free.
double arithmetic(const ir::Expr& value);

}  // namespace attune::cost_model
