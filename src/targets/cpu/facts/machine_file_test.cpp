#include "targets/cpu/facts/machine_file.h"

#include <gtest/gtest.h>

#include "targets/cpu/facts/known_machines.h"

namespace attune::cpu {
namespace {

constexpr std::string_view kHere = "a processor, vectors of 32 bytes";

target::Machine measured() {
  target::Machine machine;
  machine.cores = 4;
  machine.compute_sharing = 3.9;
  machine.issue_per_cycle = 8;
  machine.store_bytes_per_cycle = 48;
  machine.fma_latency = 7;
  machine.l2_bandwidth = 31;
  machine.exchange_bandwidth = 1.75;
  machine.fork_join_us = 1.5;
  return machine;
}

TEST(MachineFile, IsReadAsItWasWritten) {
  const auto read = parse_machine(machine_text(measured(), kHere), kHere);
  ASSERT_TRUE(read);
  EXPECT_EQ(read->cores, 4);
  EXPECT_EQ(read->compute_sharing, 3.9);
  EXPECT_EQ(read->issue_per_cycle, 8);
  EXPECT_EQ(read->store_bytes_per_cycle, 48);
  EXPECT_EQ(read->fma_latency, 7);
  EXPECT_EQ(read->l2_bandwidth, 31);
  EXPECT_EQ(read->exchange_bandwidth, 1.75);
  EXPECT_EQ(read->fork_join_us, 1.5);
}

TEST(MachineFile, LeavesWhatIsNotMeasuredAsItIsStated) {
  const auto read = parse_machine(machine_text(measured(), kHere), kHere, {.reorder_window = 448});
  ASSERT_TRUE(read);
  EXPECT_EQ(read->reorder_window, 448);
}

TEST(MachineFile, OfAnotherMachineIsNotTaken) {
  EXPECT_FALSE(parse_machine(machine_text(measured(), "another"), kHere));
}

TEST(MachineFile, WithAnyByteChangedOrCutIsNotTaken) {
  const std::string text = machine_text(measured(), kHere);
  for (std::size_t i = 0; i < text.size(); ++i) {
    std::string damaged = text;
    damaged[i] = static_cast<char>(damaged[i] ^ 1);
    EXPECT_FALSE(parse_machine(damaged, kHere)) << i;
    EXPECT_FALSE(parse_machine(text.substr(0, i), kHere)) << i;
  }
}

TEST(MachineFile, FiguresThatMakeNoSenseAreNotTaken) {
  for (double target::Machine::*figure :
       {&target::Machine::ghz, &target::Machine::fmas_per_cycle, &target::Machine::loads_per_cycle,
        &target::Machine::l2_bandwidth, &target::Machine::compute_sharing}) {
    for (const double nonsense : {0.0, -1.0, 1e9}) {
      target::Machine machine = measured();
      machine.*figure = nonsense;
      EXPECT_FALSE(is_plausible(machine));
      EXPECT_FALSE(parse_machine(machine_text(machine, kHere), kHere));
    }
  }
}

TEST(KnownMachine, EveryProcessorOfTheTableIsPlausible) {
  for (const char* cpu : {"znver3", "znver4", "sapphirerapids", "skylake", "nothing"}) {
    target::Machine machine = known_machine("x86_64", cpu);
    machine.cores = 2, machine.compute_sharing = 2;
    EXPECT_TRUE(is_plausible(machine)) << cpu;
  }
  EXPECT_EQ(known_machine("x86_64", "sapphirerapids").fma_bytes_per_cycle, 128);
  EXPECT_EQ(known_machine("aarch64", "cortex-a72").fma_bytes_per_cycle, 16);
  EXPECT_EQ(known_machine("aarch64", "nothing").fma_bytes_per_cycle, 32);
  EXPECT_EQ(known_machine("x86_64", "haswell").fma_latency, 5);
  EXPECT_EQ(known_machine("x86_64", "znver5").issue_per_cycle, 8);
  EXPECT_EQ(known_machine("aarch64", "cortex-a53").reorder_window, 0);
  EXPECT_EQ(known_machine("aarch64", "cortex-a72").fma_latency, 7);
}

}  // namespace
}  // namespace attune::cpu
