#include "targets/sim/device/cycle_meter.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "compiler/ir/text/parse.h"

namespace attune::sim {
namespace {

std::int64_t cycles_of(const std::string& text, const Machine& machine = {}) {
  const ir::Kernel kernel = ir::parse_kernel(text).value();
  std::vector<ir::Array> arrays;
  for (const ir::Buffer& param : kernel.params) arrays.emplace_back(param->type, param->shape);
  CycleMeter meter(machine);
  ir::LaunchOptions options;
  options.meter = &meter;
  options.warp = static_cast<int>(machine.warp);
  const auto findings = ir::run_launches(kernel, arrays, -1, options);
  EXPECT_TRUE(findings.ok() && findings->empty());
  return meter.cycles();
}

std::string copy(const char* index, int blocks = 1) {
  return fmt::format(R"(kernel k(A: f32[1024], B: f32[1024]) {{
  bound for b in {} on block.x {{
    bound for t in 32 on thread.x {{ B[{}] = A[{}] }}
  }}
}}
)",
                     blocks, index, index);
}

TEST(CycleMeter, CountsTheSameEveryTime) {
  EXPECT_EQ(cycles_of(copy("t")), cycles_of(copy("t")));
  // A launch, a segment read and waited for, a segment written.
  const Machine machine;
  EXPECT_EQ(cycles_of(copy("t")),
            machine.launch_cycles + 2 * machine.segment_cycles + machine.global_latency);
}

TEST(CycleMeter, SegmentsOfGlobalMemoryCost) {
  const Machine machine;
  EXPECT_EQ(cycles_of(copy("t * 32")) - cycles_of(copy("t")),
            2 * 31 * machine.segment_cycles + 2);  // and two multiplications
}

TEST(CycleMeter, BanksOfSharedMemoryCost) {
  const auto transposed = [](int row) {
    return fmt::format(R"(kernel k(B: f32[32]) {{
  bound for t in 32 on thread.x {{
    alloc S: f32[32, {}] shared {{
      S[t, 0] = 1.0f32
      B[t] = S[t, 0]
    }}
  }}
}}
)",
                       row);
  };
  EXPECT_EQ(cycles_of(transposed(32)) - cycles_of(transposed(33)), 2 * 31);
}

TEST(CycleMeter, BlocksShareTheMachine) {
  Machine one, eight;
  one.multiprocessors = 1;
  eight.multiprocessors = 8;
  const std::string many = copy("b * 32 + t", 32);
  EXPECT_GT(cycles_of(many, one), cycles_of(many, eight));
}

TEST(CycleMeter, BarriersAndDivisionsCost) {
  const Machine machine;
  const std::string plain = R"(kernel k(B: f32[1]) {
  bound for t in 1 on thread.x { B[0] = 1.0f32 }
}
)";
  const std::string waiting = R"(kernel k(B: f32[1]) {
  bound for t in 1 on thread.x { barrier shared B[0] = 1.0f32 }
}
)";
  EXPECT_EQ(cycles_of(waiting) - cycles_of(plain), machine.barrier_cycles);
}

// Rows are summed up while the next one is on its way, or not.
std::string rows(const char* at_first, const char* before, const char* after) {
  return fmt::format(R"(kernel k(A: f32[512], B: f32[32]) {{
  bound for t in 32 on thread.x {{
    alloc S: f32[64] shared {{
      B[t] = 0.0f32
      {}
      for i in 16 {{
        {}
        for j in 32 {{ B[t] = B[t] + S[i % 2 * 32 + j] }}
        {}
      }}
    }}
  }}
}}
)",
                     at_first, before, after);
}

TEST(CycleMeter, AsynchronousCopiesHideLatency) {
  const std::string store = rows("", "S[i % 2 * 32 + t] = A[i * 32 + t] barrier shared", "");
  const std::string commit = "eval @async_commit<i32>() ", wait = "eval @async_wait<i32>(0) ";
  const std::string copy = "eval @async_copy<i32>(S[i % 2 * 32 + t], A[i * 32 + t], 1, true) ";
  const std::string at_once = rows("", (copy + commit + wait + "barrier shared").c_str(), "");
  const std::string first = "eval @async_copy<i32>(S[t], A[t], 1, true) ";
  const std::string next =
      "if (i < 15) { eval @async_copy<i32>(S[(i + 1) % 2 * 32 + t], A[i * 32 + t + 32], 1, true) }";
  const std::string ahead =
      rows((first + commit).c_str(), (wait + "barrier shared " + next + commit).c_str(), "");
  const Machine machine;
  EXPECT_GE(cycles_of(at_once), cycles_of(store));
  EXPECT_LT(cycles_of(ahead), cycles_of(at_once) - 14 * machine.global_latency);
}

TEST(CycleMeter, TransfersTakeTimeByTheirBytes) {
  EXPECT_EQ(transfer_cycles({}, 0), 0);
  EXPECT_EQ(transfer_cycles({}, 17), 2);
}

}  // namespace
}  // namespace attune::sim
