#include <gtest/gtest.h>

#include "base/built_path_testing.h"
#include "compiler/target/bound.h"
#include "targets/cuda/device/fake_driver_testing.h"
#include "targets/cuda/facts/cards_here.h"
#include "targets/cuda/facts/facts.h"
#include "targets/cuda/facts/known_cards.h"

namespace attune::cuda {
namespace {

using target::Target;
using Attributes = std::vector<std::pair<std::string, std::string>>;

Result<Target> resolved(Attributes attributes) {
  Target target;
  target.kind = "cuda";
  target.attributes = std::move(attributes);
  return resolve(target);
}
std::string text(Attributes attributes) {
  const auto target = resolved(std::move(attributes));
  return target.ok() ? target::to_string(*target) : target.error().message;
}

constexpr const char* kH200 =
    "cuda -arch=sm_90a -multiprocessors=132 -shared_kb=227 -clock_mhz=1980 -l2_mb=60 "
    "-dram_gbps=4800 -threads=1";

TEST(CudaFacts, AnArchitectureStandsForItsUsualCard) {
  EXPECT_EQ(text({{"arch", "sm_90a"}}), kH200);
  EXPECT_EQ(text({{"card", "h200"}}), kH200);
  EXPECT_EQ(text({{"arch", "sm_80"}}),
            "cuda -arch=sm_80 -multiprocessors=108 -shared_kb=163 -clock_mhz=1410 -l2_mb=40 "
            "-dram_gbps=2039 -threads=1");
  EXPECT_EQ(text({{"card", "l4"}, {"clock_mhz", "1000"}}),
            "cuda -arch=sm_89 -multiprocessors=58 -shared_kb=99 -clock_mhz=1000 -l2_mb=48 "
            "-dram_gbps=300 -threads=1");
  EXPECT_EQ(resolved({{"arch", "sm_90"}})->attribute("arch"), "sm_90");
}

TEST(CudaFacts, EveryKnownCardIsATargetThatStaysAsItIs) {
  for (const KnownCard& card : known_cards()) {
    const auto target = resolved({{"card", std::string(card.name)}});
    ASSERT_TRUE(target.ok()) << target.error().message;
    EXPECT_EQ(target::to_string(resolve(*target).value()), target::to_string(*target));
    EXPECT_GT(target->launch.l2_bandwidth, target->launch.dram_bandwidth) << card.name;
    EXPECT_GE(target->launch.resident_shared_bytes, target->launch.shared_bytes) << card.name;
  }
}

TEST(CudaFacts, WrongTextsAreNamed) {
  EXPECT_EQ(text({{"arch", "sm_61"}}), "-arch of a CUDA card is 'sm_61'");
  EXPECT_EQ(text({{"arch", "hopper"}}), "-arch of a CUDA card is 'hopper'");
  EXPECT_EQ(text({{"arch", "sm_99"}}), "no card of CUDA architecture 'sm_99' is known");
  EXPECT_EQ(text({{"card", "h300"}}), "unknown CUDA card 'h300'");
  EXPECT_EQ(text({{"card", "h100"}, {"arch", "sm_80"}}),
            "card 'h100' is sm_90a, the target says sm_80");
  EXPECT_EQ(text({{"arch", "sm_90a"}, {"multiprocessors", "none"}}),
            "-multiprocessors of a CUDA card is 'none'");
  EXPECT_EQ(text({{"arch", "sm_90a"}, {"l2_mb", "0"}}), "-l2_mb of a CUDA card is '0'");
}

TEST(CudaFacts, FillTheFactsOfLaunches) {
  const Target target = resolved({{"arch", "sm_90a"}}).value();
  EXPECT_EQ(target.vector_bytes, 16);
  EXPECT_EQ(target.launch.multiprocessors, 132);
  EXPECT_EQ(target.launch.shared_bytes, 227 << 10);
  EXPECT_EQ(target.launch.resident_shared_bytes, 228 << 10);
  EXPECT_EQ(target.launch.resident_threads, 2048);
  EXPECT_EQ(target.launch.resident_blocks, 32);
  EXPECT_DOUBLE_EQ(target.launch.fmas_per_cycle, 128);
  EXPECT_DOUBLE_EQ(target.launch.ghz, 1.98);
  EXPECT_NEAR(target.launch.l2_bandwidth, 8364, 1);
  EXPECT_EQ(target.l3_bytes, std::int64_t{60} << 20);
}

// Two operations of 66.9 TFLOP/s, bytes at 8.4 and 4.6 TB/s, and a launch.
TEST(CudaFacts, BoundsAreThoseOfTheCard) {
  const Target target = resolved({{"arch", "sm_90a"}}).value();
  EXPECT_NEAR(target::bound_us({.flops = 66.9e6}, target), 1 + 1, 0.01);
  EXPECT_NEAR(target::bound_us({.bytes = 8.364e6}, target), 1 + 1, 0.01);
  EXPECT_NEAR(target::bound_us({.bytes = 4.56e6, .cold_bytes = 4.56e6}, target), 1 + 1, 0.01);
}

TEST(CudaFacts, CardsAreKnownByTheDriversName) {
  EXPECT_EQ(card_called("NVIDIA H200", 132)->name, "h200");
  EXPECT_EQ(card_called("NVIDIA A100-SXM4-80GB", 108)->name, "a100");
  EXPECT_EQ(card_called("NVIDIA H100 PCIe", 114)->name, "h100-pcie");
  EXPECT_EQ(card_called("NVIDIA A10", 72)->name, "a10");
  EXPECT_EQ(card_called("NVIDIA H200", 60), nullptr);
  EXPECT_EQ(card_called("NVIDIA A100X", 108), nullptr);
}

TEST(CudaFacts, WhatIsHereIsAskedForInAChild) {
  {
    FakeDriver fake(built_path(ATTUNE_TEST_DRIVER));
    const auto cards = look_for_cards();
    ASSERT_TRUE(cards.ok()) << cards.error().message;
    EXPECT_EQ(cards->front().name, "Fake H200");
    EXPECT_EQ(cards->front().memory_bytes, 64 << 20);
    EXPECT_EQ(fake.card().calls["cuInit"], 0);
    EXPECT_EQ(target_kind.devices_here()->front(),
              "Fake H200, sm_90a, 0.1 GiB, driver for CUDA 12.8");
    fake.card().cards = 0;
    EXPECT_EQ(look_for_cards().error().hint, kElsewhere);
  }
  ::setenv("ATTUNE_LIBCUDA", "/nowhere", 1);
  EXPECT_EQ(target_kind.devices_here().error().message,
            "no CUDA driver is here: /nowhere cannot be opened");
  ::unsetenv("ATTUNE_LIBCUDA");
}

// The card here is remembered, so this is one test.
TEST(CudaFacts, TheCardHereIsATarget) {
  FakeDriver fake(built_path(ATTUNE_TEST_DRIVER));
  EXPECT_EQ(text({}), kH200);
  const auto runs = [](Attributes attributes) {
    const Status status = target_kind.check_runs_here(resolved(std::move(attributes)).value());
    return status.ok() ? "runs" : status.error().message;
  };
  EXPECT_EQ(runs({}), "runs");
  EXPECT_EQ(runs({{"card", "h100-pcie"}}), "runs");
  EXPECT_EQ(runs({{"arch", "sm_80"}}),
            "target 'sm_80' is not the card here, Fake H200, which is sm_90a");
  EXPECT_EQ(runs({{"arch", "sm_90a"}, {"shared_kb", "240"}}),
            "blocks of the target have 240 KiB of shared memory, those of Fake H200 only 227");
  EXPECT_EQ(target_kind.requirements(resolved({}).value()).architecture, "sm_90a");
  EXPECT_TRUE(target_kind.requirements(resolved({}).value()).own_memory);
}

}  // namespace
}  // namespace attune::cuda
