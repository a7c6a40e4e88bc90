#include "targets/sim/device/device.h"

#include <gtest/gtest.h>

#include <cstring>

namespace attune::sim {
namespace {

constexpr const char* kTwo = R"(kernel double(A: f32[4], B: f32[4]) {
  bound for t in 4 on thread.x {
    B[t] = A[t] * 2.0f32
  }
}
kernel wrong(A: f32[4], B: f32[4]) {
  bound for t in 4 on thread.x {
    B[0] = A[t]
  }
}
)";

std::span<const std::byte> bytes_of(const std::vector<float>& values) {
  return std::as_bytes(std::span(values));
}

class SimDevice : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(device_.load(kTwo).ok());
    a_ = device_.allocate(16).value();
    b_ = device_.allocate(16).value();
    ASSERT_TRUE(device_.write(a_, 0, bytes_of({1, 2, 3, 4})).ok());
  }
  Device device_{Machine{}};
  Handle a_ = 0, b_ = 0;
};

TEST_F(SimDevice, RunsKernelsInItsOwnMemory) {
  const std::vector<Handle> parameters{a_, b_};
  const std::int64_t before = device_.cycles();
  ASSERT_TRUE(device_.launch("double", parameters).ok());
  EXPECT_GT(device_.cycles(), before);
  std::vector<float> result(4);
  ASSERT_TRUE(device_.read(b_, 0, std::as_writable_bytes(std::span(result))).ok());
  EXPECT_EQ(result, (std::vector<float>{2, 4, 6, 8}));
  const std::int64_t once = device_.cycles() - before;
  ASSERT_TRUE(device_.launch("double", parameters).ok());
  ASSERT_TRUE(device_.read(b_, 0, std::as_writable_bytes(std::span(result))).ok());
  EXPECT_EQ(device_.cycles() - before, 2 * once);
}

TEST_F(SimDevice, SaysWhatIsWrongWithAKernel) {
  const std::vector<Handle> parameters{a_, b_};
  EXPECT_EQ(
      device_.launch("wrong", parameters).error().message,
      "kernel 'wrong': thread (1, 0, 0) of block (0, 0, 0) writes 'B' at [0], to which thread "
      "(0, 0, 0) wrote another value with no barrier between");
  EXPECT_EQ(device_.launch("absent", parameters).error().message,
            "no kernel 'absent' is loaded on the simulated device");
  EXPECT_EQ(device_.launch("double", std::vector<Handle>{a_}).error().message,
            "kernel 'double' takes 2 buffers, 1 were given");
  EXPECT_EQ(device_.launch("double", std::vector<Handle>{a_, 77}).error().message,
            "the simulated device has no memory 77");
}

TEST_F(SimDevice, GivesMemoryBack) {
  ASSERT_TRUE(device_.free(b_).ok());
  EXPECT_FALSE(device_.free(b_).ok());
  EXPECT_FALSE(device_.allocate(std::int64_t{1} << 40).ok());
  EXPECT_EQ(device_.write(a_, 12, bytes_of({1, 2})).error().message,
            "bytes 12 to 20 of a piece of 16 on the simulated device");
}

}  // namespace
}  // namespace attune::sim
