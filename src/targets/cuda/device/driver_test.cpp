#include "targets/cuda/device/driver.h"

#include <gtest/gtest.h>

#include "targets/cuda/device/card.h"
#include "targets/cuda/device/fake_driver_testing.h"

namespace attune::cuda {
namespace {

TEST(CudaDriver, SaysThatThereIsNone) {
  ::setenv("ATTUNE_LIBCUDA", "/nowhere/libcuda.so.1", 1);
  const auto driver = open_driver();
  ::unsetenv("ATTUNE_LIBCUDA");
  ASSERT_FALSE(driver.ok());
  EXPECT_EQ(driver.error().message,
            "no CUDA driver is here: /nowhere/libcuda.so.1 cannot be opened");
  EXPECT_EQ(driver.error().hint, "compile for a card elsewhere with --target 'cuda -arch=sm_90a'");
}

TEST(CudaDriver, SaysThatItIsTooOld) {
  ::setenv("ATTUNE_LIBCUDA", "libm.so.6", 1);
  EXPECT_EQ(open_driver().error().message, "the CUDA driver here has no cuGraphExecDestroy");
  FakeDriver fake(built_path(ATTUNE_TEST_DRIVER));
  fake.card().version = 11040;
  EXPECT_EQ(open_driver().error().message, "the CUDA driver here is for CUDA 11.4");
  EXPECT_EQ(open_driver().error().hint, "install a driver for CUDA 12.0 or newer");
}

TEST(CudaDriver, StartsNothingWhenItIsOpened) {
  FakeDriver fake(built_path(ATTUNE_TEST_DRIVER));
  ASSERT_TRUE(open_driver().ok());
  EXPECT_EQ(fake.card().calls["cuInit"], 0);
}

TEST(CudaDriver, ErrorsNameTheCallAndCudasWord) {
  FakeDriver fake(built_path(ATTUNE_TEST_DRIVER));
  const auto driver = open_driver().value();
  const Error error = driver->error_of("cuMemAlloc_v2", kOutOfMemory, "allocating 5 bytes");
  EXPECT_EQ(error.code, ErrorCode::Exhausted);
  EXPECT_EQ(error.message,
            "allocating 5 bytes: cuMemAlloc_v2 gave CUDA_ERROR_OUT_OF_MEMORY (2, out of memory)");
  EXPECT_EQ(error.hint, "use a smaller model or batch, or end other programs that use the card");
}

TEST(CudaCard, IsWhatTheDriverSays) {
  FakeDriver fake(built_path(ATTUNE_TEST_DRIVER));
  const auto cards = read_cards(*open_driver().value());
  ASSERT_TRUE(cards.ok()) << cards.error().message;
  ASSERT_EQ(cards->size(), 1u);
  EXPECT_EQ(to_string(cards->front()), "Fake H200, sm_90a, 0.1 GiB, driver for CUDA 12.8");
  EXPECT_EQ(cards->front().dram_gbps, 4916);
  EXPECT_EQ(cards->front().clock_mhz, 1980);
}

TEST(CudaCard, IsNotThere) {
  FakeDriver fake(built_path(ATTUNE_TEST_DRIVER));
  fake.card().cards = 0;
  const auto cards = read_cards(*open_driver().value());
  EXPECT_EQ(cards.error().message,
            "looking for CUDA devices: cuInit gave CUDA_ERROR_NO_DEVICE (100, what tests wanted)");
}

}  // namespace
}  // namespace attune::cuda
