#include "targets/cpu/facts/machine_here.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include "base/temporary_directory_testing.h"

namespace attune::cpu {
namespace {

// A machine with a memory of this many bytes in a nanosecond.
probe::Speed speed_of(double dram, double preemptions, double stolen = 0) {
  probe::Speed speed;
  speed.core = {.cycles = 3,
                .fma_vectors = 6,
                .fma_bytes = 192,
                .chained_fmas = 0.6,
                .broadcasts = 6,
                .load_bytes = 192,
                .store_bytes = 96};
  speed.one = speed.all = {.l2 = 120, .l3 = 60, .dram = dram};
  speed.dram_latency_ns = 110;
  speed.fma_bytes_all = 192;
  speed.exchange = 6;
  speed.fork_join_us = 1;
  speed.preemptions = preemptions;
  speed.stolen = stolen;
  return speed;
}

// Measures what is given, one after the other, in a cache of its own.
class MachineHere : public testing::Test {
 protected:
  MachineHere() {
    if (const char* cache = ::getenv("XDG_CACHE_HOME")) before_ = cache;
    ::setenv("XDG_CACHE_HOME", folder_.path().c_str(), 1);
  }
  ~MachineHere() override {
    if (before_.empty()) {
      ::unsetenv("XDG_CACHE_HOME");
    } else {
      ::setenv("XDG_CACHE_HOME", before_.c_str(), 1);
    }
  }

  target::Machine measure(std::vector<probe::Speed> speeds, const target::Target& target = {}) {
    const auto next = [&]() -> Result<probe::Speed> { return speeds.at(taken_++); };
    return measure_machine(target, next).value();
  }
  std::size_t remembered() const {
    const std::filesystem::path files = folder_.path() / "attune";
    if (!std::filesystem::exists(files)) return 0;
    const std::filesystem::directory_iterator all(files);
    return static_cast<std::size_t>(std::distance(begin(all), end(all)));
  }

  std::size_t taken_ = 0;

 private:
  test::TemporaryDirectory folder_;
  std::string before_;
};

TEST_F(MachineHere, IsMeasuredOnceWhereItIsQuiet) {
  const target::Machine machine = measure({speed_of(30, 4)});
  EXPECT_NEAR(machine.dram_bandwidth, 10, 0.1);
  EXPECT_EQ(machine.store_bytes_per_cycle, 32);
  EXPECT_EQ(machine.fma_latency, 5);
  EXPECT_EQ(machine.dram_latency_ns, 110);
  EXPECT_EQ(machine.issue_per_cycle, 6);  // as it is stated
  EXPECT_EQ(remembered(), 1);
}

TEST_F(MachineHere, IsMeasuredAgainWhereOthersHadTheCores) {
  EXPECT_NEAR(measure({speed_of(3, 400), speed_of(30, 4)}).dram_bandwidth, 10, 0.1);
  EXPECT_EQ(taken_, 2);
  EXPECT_EQ(remembered(), 1);
}

TEST_F(MachineHere, IsMeasuredAgainWhereTheHostTookTheCores) {
  EXPECT_NEAR(measure({speed_of(3, 4, 0.05), speed_of(30, 40, 0.004)}).dram_bandwidth, 10, 0.1);
  EXPECT_EQ(taken_, 2);
  EXPECT_EQ(remembered(), 1);
}

TEST_F(MachineHere, IsNotRememberedWithoutCoresOfItsOwn) {
  const target::Machine machine =
      measure({speed_of(3, 4, 0.05), speed_of(6, 4, 0.02), speed_of(3, 400)});
  EXPECT_NEAR(machine.dram_bandwidth, 2, 0.1);
  EXPECT_EQ(remembered(), 0);
}

// What a busy machine shows serves until the process ends, and is no fact.
TEST_F(MachineHere, IsNotRememberedAsABusyOne) {
  const target::Machine machine = measure({speed_of(3, 400), speed_of(6, 100), speed_of(3, 300)});
  EXPECT_NEAR(machine.dram_bandwidth, 2, 0.1);
  EXPECT_EQ(remembered(), 0);
}

// As with and without the widest vectors: each has what was measured for it, in files and in the
// process.
TEST_F(MachineHere, IsRememberedForEachTarget) {
  const char* wish = ::getenv("ATTUNE_MACHINE");
  const std::string before = wish == nullptr ? "" : wish;
  ::unsetenv("ATTUNE_MACHINE");
  target::Target wide, narrow;
  wide.vector_bytes = 64, narrow.vector_bytes = 32;
  measure({speed_of(30, 4), speed_of(15, 4)}, wide);
  measure({speed_of(30, 4), speed_of(15, 4)}, narrow);
  EXPECT_EQ(remembered(), 2);
  for (int i = 0; i < 2; ++i) {
    EXPECT_NEAR(machine_here(wide).dram_bandwidth, 10, 0.1);
    EXPECT_NEAR(machine_here(narrow).dram_bandwidth, 5, 0.1);
  }
  if (!before.empty()) ::setenv("ATTUNE_MACHINE", before.c_str(), 1);
}

}  // namespace
}  // namespace attune::cpu
