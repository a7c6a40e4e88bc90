#include "targets/sim/device/device.h"

#include <gtest/gtest.h>

#include <cstring>

namespace attune::sim {
namespace {

using runtime::Location;
using runtime::Space;

constexpr std::string_view kTwo = R"(kernel double(A: f32[4], B: f32[4]) {
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

class SimDevice : public ::testing::Test {
 protected:
  void SetUp() override {
    device_ = open_device({});
    code_ = device_->load(std::as_bytes(std::span(kTwo))).value();
    stream_ = device_->open_stream({}).value();
    a_ = device_->allocate(16).value();
    b_ = device_->allocate(16).value();
    std::vector<float> values{1, 2, 3, 4};
    ASSERT_TRUE(stream_->copy(at(*a_), host(values), 16).ok());
  }
  static Location at(const runtime::DeviceMemory& block) {
    return {Space::Device, block.address()};
  }
  static Location host(std::vector<float>& values) {
    return {Space::Host, reinterpret_cast<std::byte*>(values.data())};
  }
  Status launch(const std::string& kernel, const std::vector<void*>& arguments) {
    ATTUNE_ASSIGN(const runtime::KernelHandle handle, code_->kernel(kernel));
    return stream_->launch(handle, arguments);
  }
  std::vector<void*> both() { return {a_->address(), b_->address()}; }

  std::unique_ptr<runtime::Device> device_;
  std::unique_ptr<runtime::LoadedCode> code_;
  std::unique_ptr<runtime::Stream> stream_;
  std::unique_ptr<runtime::DeviceMemory> a_, b_;
};

TEST_F(SimDevice, StopsAtALimitOfSteps) {
  device_ = open_device({}, 3);
  code_ = device_->load(std::as_bytes(std::span(kTwo))).value();
  stream_ = device_->open_stream({}).value();
  a_ = device_->allocate(16).value();
  b_ = device_->allocate(16).value();
  const Status status = launch("double", both());
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().code, ErrorCode::Exhausted);
}

TEST_F(SimDevice, ChecksThatCodeIsTextOfKernels) {
  const auto check = [](std::string_view text) {
    const std::span<const std::byte> object = std::as_bytes(std::span(text));
    return device_kind.check({}, std::span(&object, 1)).ok();
  };
  EXPECT_TRUE(check(kTwo));
  EXPECT_FALSE(check("kernel double(A: f32[4]"));
  EXPECT_FALSE(
      check(std::string_view("\x7f"
                             "ELF\0\1\2",
                             7)));
}

TEST_F(SimDevice, RunsKernelsInItsOwnMemory) {
  const std::int64_t before = stream_->now_ns();
  ASSERT_TRUE(launch("double", both()).ok());
  EXPECT_GT(stream_->now_ns(), before);
  std::vector<float> result(4);
  ASSERT_TRUE(stream_->copy(host(result), at(*b_), 16).ok());
  EXPECT_EQ(result, (std::vector<float>{2, 4, 6, 8}));
  const std::int64_t once = stream_->now_ns() - before;
  ASSERT_TRUE(launch("double", both()).ok());
  ASSERT_TRUE(stream_->copy(host(result), at(*b_), 16).ok());
  EXPECT_EQ(stream_->now_ns() - before, 2 * once);
}

TEST_F(SimDevice, SaysWhatIsWrongWithAKernel) {
  EXPECT_EQ(
      launch("wrong", both()).error().message,
      "kernel 'wrong': thread (1, 0, 0) of block (0, 0, 0) writes 'B' at [0], to which thread "
      "(0, 0, 0) wrote another value with no barrier between");
  EXPECT_EQ(launch("absent", both()).error().message,
            "the code for the simulated device has no kernel 'absent'");
  EXPECT_EQ(launch("double", {a_->address()}).error().message,
            "kernel 'double' takes 2 buffers, 1 were given");
}

// Addresses of the host, and those of memory that was given back, are nothing to it.
TEST_F(SimDevice, TouchesItsOwnMemoryOnly) {
  std::vector<float> elsewhere(4);
  EXPECT_EQ(launch("double", {a_->address(), elsewhere.data()}).error().message,
            "16 bytes do not lie in the memory of the simulated device");
  EXPECT_FALSE(stream_->copy({Space::Device, a_->address() + 12}, host(elsewhere), 8).ok());
  b_.reset();
  EXPECT_FALSE(device_->allocate(std::size_t{1} << 40).ok());
}

TEST(SimDeviceKind, OpensWhatATargetDescribes) {
  EXPECT_TRUE(device_kind.open("sim -warp=16 -threads=1").ok());
  EXPECT_EQ(device_kind.open("sim -warp=none").error().message,
            "-warp of a simulated device is 'none'");
}

}  // namespace
}  // namespace attune::sim
