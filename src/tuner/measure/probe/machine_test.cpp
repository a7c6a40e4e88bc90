#include "tuner/measure/probe/machine.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "base/temporary_directory_testing.h"
#include "runtime/execution/affinity.h"
#include "tuner/measure/probe/speed/fma_loop.h"

namespace attune::probe {
namespace {

TEST(Machine, ParsesCacheSizes) {
  EXPECT_EQ(parse_cache_size("32K"), 32 << 10);
  EXPECT_EQ(parse_cache_size("1024K"), 1 << 20);
  EXPECT_EQ(parse_cache_size("32M"), 32 << 20);
  EXPECT_EQ(parse_cache_size("512"), 512);
  EXPECT_EQ(parse_cache_size(""), 0);
  EXPECT_EQ(parse_cache_size("many"), 0);
  EXPECT_EQ(parse_cache_size("32X"), 0);
}

TEST(Machine, CountsProcessorsOfAList) {
  EXPECT_EQ(count_processors("0"), 1);
  EXPECT_EQ(count_processors("0-63"), 64);
  EXPECT_EQ(count_processors("0-1,4,8-11\n"), 7);
  for (const char* text : {"", "all", "0-", "4-2", "-3", "0,"}) {
    EXPECT_EQ(count_processors(text), 0) << text;
  }
}

// Three cores, two of which share a cache of the third level.
TEST(Machine, CountsTheCachesOfCores) {
  const test::TemporaryDirectory folder;
  const auto add = [&](int core, const std::string& index, const std::string& level,
                       const std::string& type, const std::string& shared) {
    const std::string name = "cpu" + std::to_string(core) + "/cache/index" + index;
    std::filesystem::create_directories(folder.path() / name);
    folder.write(name + "/level", level + "\n");
    folder.write(name + "/type", type + "\n");
    folder.write(name + "/shared_cpu_list", shared + "\n");
  };
  for (int core = 0; core < 3; ++core) {
    add(core, "0", "1", "Data", std::to_string(core));
    add(core, "1", "1", "Instruction", "0-2");
    add(core, "2", "3", "Unified", core < 2 ? "0-1" : "2");
  }
  const std::string root = folder.path().string();
  EXPECT_EQ(count_caches(3, {0, 1, 2}, root), 2);
  EXPECT_EQ(count_caches(3, {0, 1}, root), 1);
  EXPECT_EQ(count_caches(1, {0, 1, 2}, root), 3);
  EXPECT_EQ(count_caches(2, {0, 1, 2}, root), 1);
  EXPECT_EQ(count_caches(3, {7}, root), 1);
}

TEST(Machine, DescribesThisOne) {
  const MachineFacts facts = describe_machine();
  EXPECT_FALSE(facts.cpu.empty());
  EXPECT_EQ(facts.cores, runtime::allowed_cores());
  EXPECT_GE(facts.processors, static_cast<int>(facts.cores.size()));
  EXPECT_GT(facts.memory_bytes, 0);
  EXPECT_EQ(facts.vector_units.back(), "generic");
  if (facts.l1_data_bytes > 0 && facts.l2_bytes > 0) {
    EXPECT_LT(facts.l1_data_bytes, facts.l2_bytes);
  }
}

TEST(Machine, MeasuresPeaksWithoutMovingTheCaller) {
  const std::vector<int> before = runtime::allowed_cores();
  const auto peaks = measure_peaks({.seconds = 0.01, .triad_bytes = 1 << 20});
  ASSERT_TRUE(peaks.ok());
  EXPECT_GT(peaks->peak_gflops_1, 0.0);
  EXPECT_GT(peaks->peak_gflops_all, 0.0);
  EXPECT_GT(peaks->triad_gbps_1, 0.0);
  EXPECT_GT(peaks->triad_gbps_all, 0.0);
  EXPECT_EQ(runtime::allowed_cores(), before);
}

TEST(Machine, RefusesToMeasureOnUnknownCores) {
  EXPECT_EQ(measure_peaks({.cores = {8000}, .triad_bytes = 1 << 20}).error().message,
            "cannot pin to core 8000: Invalid argument");
}

TEST(FmaLoop, AllLoopsComputeTheSameSeries) {
  // Each chain moves towards 1 from where it starts; after many rounds it is there.
  for (const FmaLoop& loop : fma_loops()) {
    const float lanes = loop.name == "generic" ? 4.0f : 1.0f;  // how many lanes it sums
    const double chains = loop.flops_per_round / 2 / (loop.vector_bytes / 4);
    EXPECT_NEAR(loop.run(100'000) / lanes, chains, 0.2) << loop.name;
    EXPECT_NEAR(loop.run(0) / lanes, chains * (chains - 1) / 2, 1e-3) << loop.name;
    EXPECT_NEAR(loop.run_chain(100'000), 1.0f, 0.01f) << loop.name;
    EXPECT_EQ(loop.run_chain(0), 0.0f) << loop.name;
  }
}

}  // namespace
}  // namespace attune::probe
