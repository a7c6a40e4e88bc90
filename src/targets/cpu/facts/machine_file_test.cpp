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
  machine.store_bytes_per_cycle = 48;
  machine.fma_latency = 7;
  machine.l2_bandwidth = 31;
  machine.dram_latency_ns = 125;
  machine.exchange_bandwidth = 1.75;
  machine.fork_join_us = 1.5;
  return machine;
}

TEST(MachineFile, IsReadAsItWasWritten) {
  const auto read = parse_machine(machine_text(measured(), kHere), kHere);
  ASSERT_TRUE(read);
  EXPECT_EQ(read->cores, 4);
  EXPECT_EQ(read->compute_sharing, 3.9);
  EXPECT_EQ(read->store_bytes_per_cycle, 48);
  EXPECT_EQ(read->fma_latency, 7);
  EXPECT_EQ(read->l2_bandwidth, 31);
  EXPECT_EQ(read->dram_latency_ns, 125);
  EXPECT_EQ(read->exchange_bandwidth, 1.75);
  EXPECT_EQ(read->fork_join_us, 1.5);
}

TEST(MachineFile, LeavesWhatIsNotMeasuredAsItIsStated) {
  const auto read = parse_machine(machine_text(measured(), kHere), kHere,
                                  {.issue_per_cycle = 8, .reorder_window = 448});
  ASSERT_TRUE(read);
  EXPECT_EQ(read->issue_per_cycle, 8);
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

TEST(MachineFile, WithoutAClockOrAPeakThatMakesSenseIsNotTaken) {
  for (double target::Machine::*figure : {&target::Machine::ghz, &target::Machine::fmas_per_cycle,
                                          &target::Machine::fma_bytes_per_cycle}) {
    for (const double nonsense : {0.0, -1.0, 1e9}) {
      target::Machine machine = measured();
      machine.*figure = nonsense;
      EXPECT_FALSE(mended(machine, {}));
      EXPECT_FALSE(parse_machine(machine_text(machine, kHere), kHere));
    }
  }
}

TEST(MachineFile, HasTheStatedFigureForOneThatMakesNoSense) {
  const target::Machine stated = {.loads_per_cycle = 3,
                                  .load_bytes_per_cycle = 96,
                                  .store_bytes_per_cycle = 40,
                                  .fma_latency = 6,
                                  .l2_bandwidth = 29,
                                  .l3_bandwidth = 19,
                                  .dram_bandwidth = 9,
                                  .dram_latency_ns = 80,
                                  .exchange_bandwidth = 3,
                                  .l3_sharing = 1.7,
                                  .dram_sharing = 1.4,
                                  .fork_join_us = 2};
  for (double target::Machine::*figure :
       {&target::Machine::fma_latency, &target::Machine::loads_per_cycle,
        &target::Machine::load_bytes_per_cycle, &target::Machine::store_bytes_per_cycle,
        &target::Machine::l2_bandwidth, &target::Machine::l3_bandwidth,
        &target::Machine::dram_bandwidth, &target::Machine::dram_latency_ns,
        &target::Machine::exchange_bandwidth, &target::Machine::l3_sharing,
        &target::Machine::dram_sharing, &target::Machine::fork_join_us}) {
    for (const double nonsense : {-1.0, 1e9}) {
      target::Machine machine = measured();
      machine.*figure = nonsense;
      const auto taken = mended(machine, stated);
      ASSERT_TRUE(taken);
      machine.*figure = stated.*figure;
      EXPECT_EQ(machine_text(*taken, kHere), machine_text(machine, kHere));
      // Nor is there anything left to mend when it is read.
      const auto read = parse_machine(machine_text(*taken, kHere), kHere);
      ASSERT_TRUE(read);
      EXPECT_EQ(machine_text(*read, kHere), machine_text(machine, kHere));
    }
  }
}

// More than all of them do side by side: something else than one core was measured.
TEST(MachineFile, DoesNotBelieveThatCoresDoMoreThanThereAre) {
  target::Machine machine = measured();
  machine.l3_sharing = 5.5;
  EXPECT_EQ(mended(machine, {.l3_sharing = 1.9})->l3_sharing, 1.9);
  EXPECT_EQ(mended(machine, {.l3_sharing = 30})->l3_sharing, 4);
  machine.compute_sharing = 0.3;
  EXPECT_EQ(mended(machine, {})->compute_sharing, 4);
}

TEST(KnownMachine, NoFigureOfTheTableNeedsMending) {
  for (const char* cpu : {"znver3", "znver4", "znver5", "sapphirerapids", "skylake", "nothing"}) {
    target::Machine machine = known_machine("x86_64", cpu);
    machine.cores = 2, machine.compute_sharing = 2;
    const auto taken = mended(machine, {});
    ASSERT_TRUE(taken) << cpu;
    EXPECT_EQ(machine_text(*taken, kHere), machine_text(machine, kHere)) << cpu;
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
