#include "targets/cuda/device/device.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <thread>

#include "targets/cuda/device/fake_driver_testing.h"

namespace attune::cuda {
namespace {

using runtime::Location;
using runtime::Space;
using Memory = std::unique_ptr<runtime::DeviceMemory>;

constexpr std::int64_t kFloats = 16;
constexpr std::size_t kBytes = 4 * kFloats;

class CudaDevice : public ::testing::Test {
 protected:
  FakeCard& card() { return fake_.card(); }
  void open() {
    device_ = device_kind.open("cuda -arch=sm_90a").value();
    const auto object =
        fake_object({fake_kernel("double_all", kFloats), fake_kernel("add_all", kFloats),
                     fake_kernel("fault", kFloats), fake_kernel_in_two(kFloats)});
    auto code = device_->load(object);
    ASSERT_TRUE(code.ok()) << code.error().message;
    code_ = std::move(code).value();
    stream_ = device_->open_stream({}).value();
    a_ = device_->allocate(kBytes).value();
    b_ = device_->allocate(kBytes).value();
  }
  void TearDown() override {
    a_.reset(), b_.reset(), stream_.reset(), code_.reset(), device_.reset();
    if (card().fault == kSuccess) {
      EXPECT_EQ(card().things, 0);
      EXPECT_EQ(card().bytes_in_use, 0u);
      EXPECT_TRUE(card().pinned_bytes.empty());
    }
  }
  static Location at(const Memory& block) { return {Space::Device, block->address()}; }
  static Location host(std::vector<float>& values) {
    return {Space::Host, reinterpret_cast<std::byte*>(values.data())};
  }
  std::vector<float> contents(const Memory& block) {
    std::vector<float> values(kFloats);
    EXPECT_TRUE(stream_->copy(host(values), at(block), kBytes).ok());
    return values;
  }
  void fill(const Memory& block, float value) {
    std::vector<float> values(kFloats, value);
    ASSERT_TRUE(stream_->copy(at(block), host(values), kBytes).ok());
  }
  Status launch(const std::string& kernel, const std::vector<void*>& arguments) {
    ATTUNE_ASSIGN(const runtime::KernelHandle handle, code_->kernel(kernel));
    return stream_->launch(handle, arguments);
  }
  std::vector<void*> both() { return {a_->address(), b_->address()}; }

  FakeDriver fake_{built_path(ATTUNE_TEST_DRIVER)};
  std::unique_ptr<runtime::Device> device_;
  std::unique_ptr<runtime::LoadedCode> code_;
  std::unique_ptr<runtime::Stream> stream_;
  Memory a_, b_;
};

TEST_F(CudaDevice, StartsCudaAtFirstUse) {
  auto device = device_kind.open("cuda").value();
  EXPECT_EQ(card().calls["cuInit"], 0);
  // A fork of a process that has not used it may use it; one that comes after may not.
  const auto in_child = [&] {
    const pid_t child = ::fork();
    if (child == 0) ::_exit(device->allocate(64).ok() ? 0 : 1);
    int status = 0;
    ::waitpid(child, &status, 0);
    return WEXITSTATUS(status);
  };
  EXPECT_EQ(in_child(), 0);
  ASSERT_TRUE(device->allocate(64).ok());
  EXPECT_EQ(in_child(), 1);
}

TEST_F(CudaDevice, ComputesInItsOwnMemory) {
  open();
  fill(a_, 3);
  ASSERT_TRUE(launch("double_all", both()).ok());
  EXPECT_EQ(contents(b_), std::vector<float>(kFloats, 6));
  ASSERT_TRUE(launch("add_all", {a_->address(), b_->address(), b_->address()}).ok());
  EXPECT_EQ(contents(b_), std::vector<float>(kFloats, 9));
  EXPECT_EQ(launch("double_all", {a_->address()}).error().message,
            "kernel 'double_all' takes 2 buffers, 1 were given");
  EXPECT_EQ(launch("absent", both()).error().message,
            "the code for CUDA devices has no kernel 'absent'");
}

TEST_F(CudaDevice, SaysHowTheCardIs) {
  open();
  EXPECT_EQ(device_->condition().value(), "1980 MHz, memory 3201 MHz, 41 °C");
}

TEST_F(CudaDevice, HandsOverInScratchMemory) {
  open();
  fill(a_, 3);
  ASSERT_TRUE(launch("quadruple_all", both()).ok());
  EXPECT_EQ(contents(b_), std::vector<float>(kFloats, 12));
  const int allocations = card().calls["cuMemAlloc"];
  ASSERT_TRUE(launch("quadruple_all", both()).ok());
  EXPECT_EQ(card().calls["cuMemAlloc"], allocations);
  // 1000 bytes of shared memory for one launch, none for the other.
  EXPECT_EQ(card().calls["cuFuncSetAttribute"], 1);
}

TEST_F(CudaDevice, GivesClearedMemoryAndKeepsWhatComesBack) {
  open();
  EXPECT_EQ(contents(a_), std::vector<float>(kFloats, 0));
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(a_->address()) % 256, 0u);
  fill(a_, 1);
  std::byte* const address = a_->address();
  const int allocations = card().calls["cuMemAlloc"];
  ASSERT_TRUE(stream_->wait().ok());
  a_.reset();
  a_ = device_->allocate(kBytes).value();
  EXPECT_EQ(a_->address(), address);
  EXPECT_EQ(card().calls["cuMemAlloc"], allocations);
  EXPECT_EQ(contents(a_), std::vector<float>(kFloats, 0));
  EXPECT_NE(device_->allocate(100'000).value()->address(), device_->allocate(0).value()->address());
}

TEST_F(CudaDevice, RunsOutOfMemory) {
  open();
  const auto much = device_->allocate(std::size_t{1} << 30);
  ASSERT_FALSE(much.ok());
  EXPECT_EQ(much.error().code, ErrorCode::Exhausted);
  EXPECT_EQ(much.error().message,
            "allocating 1073741824 bytes on Fake H200, where 67108352 of 67108864 are free: "
            "cuMemAlloc_v2 gave CUDA_ERROR_OUT_OF_MEMORY (2, out of memory)");
  // What is kept for later goes back before that is said.
  device_->allocate(std::size_t{40} << 20).value().reset();
  EXPECT_TRUE(device_->allocate(std::size_t{60} << 20).ok());
}

TEST_F(CudaDevice, CopiesRangesThatOverlap) {
  open();
  std::vector<float> values(kFloats);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i);
  ASSERT_TRUE(stream_->copy(at(a_), host(values), kBytes).ok());
  ASSERT_TRUE(stream_->copy({Space::Device, a_->address() + 8}, at(a_), kBytes - 8).ok());
  const std::vector<float> moved = contents(a_);
  EXPECT_EQ(moved[1], 1);
  EXPECT_EQ(moved[2], 0);
  EXPECT_EQ(moved[15], 13);
  ASSERT_TRUE(stream_->copy(at(b_), at(a_), kBytes).ok());
  EXPECT_EQ(contents(b_), moved);
}

TEST_F(CudaDevice, FaultsAreErrors) {
  open();
  ASSERT_TRUE(launch("fault", {a_->address()}).ok());
  EXPECT_EQ(stream_->wait().error().message,
            "waiting for the card: cuStreamSynchronize gave CUDA_ERROR_ILLEGAL_ADDRESS (700, what "
            "tests wanted)");
  const std::int64_t then = stream_->now_ns();
  EXPECT_EQ(stream_->now_ns(), then);
  EXPECT_FALSE(launch("double_all", both()).ok());
}

TEST_F(CudaDevice, EveryCallMayFail) {
  // Whichever call it is, an error comes back, nothing crashes, and what was made is destroyed.
  for (const char* call : {"cuInit",
                           "cuDeviceGetCount",
                           "cuDeviceGet",
                           "cuDeviceGetName",
                           "cuDeviceGetAttribute",
                           "cuDeviceTotalMem",
                           "cuDevicePrimaryCtxRetain",
                           "cuCtxSetCurrent",
                           "cuMemAlloc",
                           "cuMemsetD8Async",
                           "cuStreamCreate",
                           "cuStreamSynchronize",
                           "cuEventCreate",
                           "cuEventRecord",
                           "cuEventSynchronize",
                           "cuModuleLoadDataEx",
                           "cuModuleGetFunction",
                           "cuFuncSetAttribute",
                           "cuLaunchKernel",
                           "cuMemcpyDtoHAsync"}) {
    FakeDriver fake(built_path(ATTUNE_TEST_DRIVER));
    fake.fail(call, 1, 999);
    const Status failed = [&]() -> Status {
      ATTUNE_ASSIGN(const auto device, device_kind.open("cuda"));
      ATTUNE_ASSIGN(const auto code, device->load(fake_object({fake_kernel_in_two(kFloats)})));
      ATTUNE_ASSIGN(const auto stream, device->open_stream({}));
      ATTUNE_ASSIGN(const auto memory, device->allocate(kBytes));
      ATTUNE_ASSIGN(const auto kernel, code->kernel("quadruple_all"));
      const std::vector<void*> arguments{memory->address(), memory->address()};
      ATTUNE_RETURN_IF_ERROR(stream->launch(kernel, arguments));
      std::vector<float> values(kFloats);
      return stream->copy(host(values), at(memory), kBytes);
    }();
    ASSERT_FALSE(failed.ok()) << call;
    EXPECT_NE(failed.error().message.find("(999"), std::string::npos) << failed.error().message;
    EXPECT_EQ(fake.card().things, 0) << call;
    EXPECT_EQ(fake.card().bytes_in_use, 0u) << call;
  }
  ::setenv("ATTUNE_LIBCUDA", built_path(ATTUNE_TEST_DRIVER).c_str(), 1);
}

TEST_F(CudaDevice, TakesCodeThatItsCardRuns) {
  device_ = device_kind.open("cuda").value();
  const auto failure = [&](const KernelImage& image) {
    const auto loaded = device_->load(write_image(image));
    return loaded.ok() ? "loaded" : loaded.error().message;
  };
  KernelImage image = fake_kernel("double_all", kFloats);
  image.architecture = "sm_80";
  EXPECT_EQ(failure(image),
            "kernel 'double_all' is for sm_80, the card here, Fake H200, is sm_90a");
  image.ptx = "fake ptx";
  EXPECT_EQ(failure(image), "loaded");
  image.ptx = "wrong ptx";
  EXPECT_EQ(failure(image),
            "loading kernel 'double_all' for sm_80: cuModuleLoadDataEx gave "
            "CUDA_ERROR_INVALID_IMAGE (200, what tests wanted): no fake code");
  image = fake_kernel("double_all", kFloats);
  image.launches[0].shared_bytes = 240 << 10;
  EXPECT_EQ(failure(image),
            "kernel 'double_all' asks for 245760 bytes of shared memory, a block on Fake H200 has "
            "232448");
  image = fake_kernel("double_all", kFloats);
  image.launches[0].function = "none";
  EXPECT_EQ(failure(image),
            "looking for function 'none': cuModuleGetFunction gave CUDA_ERROR_OF_TESTS (500, what "
            "tests wanted)");
}

TEST_F(CudaDevice, TimesKernelsByThemselves) {
  open();
  const auto kernel = code_->kernel("quadruple_all").value();
  // The first launch is not gated: it may wait for the card.
  EXPECT_EQ(stream_->launch_timed(kernel, both()).value(), 2000);
  EXPECT_EQ(card().calls["cuStreamWaitValue32"], 0);
  EXPECT_EQ(stream_->launch_timed(kernel, both()).value(), 2000);
  EXPECT_EQ(card().calls["cuStreamWaitValue32"], 1);
  // A launch that fails opens the gate all the same.
  fake_.fail("cuLaunchKernel", 2, 999);
  EXPECT_FALSE(stream_->launch_timed(kernel, both()).ok());
  EXPECT_TRUE(stream_->wait().ok());
  fake_.fail("cuEventRecord", 1, 999);
  EXPECT_FALSE(stream_->launch_timed(kernel, both()).ok());
  EXPECT_TRUE(stream_->wait().ok());
  // Where the card cannot wait it is timed without.
  fake_.fail("cuStreamWaitValue32", 1, 801);
  EXPECT_EQ(stream_->launch_timed(kernel, both()).value(), 2000);
}

TEST_F(CudaDevice, TellsTheTimeOfItsWork) {
  open();
  const std::int64_t before = stream_->now_ns();
  ASSERT_TRUE(launch("double_all", both()).ok());
  ASSERT_TRUE(launch("quadruple_all", both()).ok());
  EXPECT_EQ(stream_->now_ns() - before, 3000);
}

TEST_F(CudaDevice, ReplaysWhatWasRecorded) {
  open();
  const Memory there = device_->allocate_host(kBytes).value();
  const Memory back = device_->allocate_host(kBytes).value();
  auto* const in = reinterpret_cast<float*>(there->address());
  auto* const out = reinterpret_cast<float*>(back->address());
  const auto work = [&] {
    EXPECT_TRUE(stream_->copy(at(a_), {Space::Host, there->address()}, kBytes).ok());
    EXPECT_TRUE(launch("quadruple_all", both()).ok());
    EXPECT_TRUE(stream_->copy({Space::Host, back->address()}, at(b_), kBytes).ok());
  };
  in[5] = 1;
  work();
  EXPECT_EQ(out[5], 4);
  in[5] = 2;
  ASSERT_TRUE(stream_->begin_recording().ok());
  work();
  const auto recording = stream_->end_recording().value();
  EXPECT_EQ(out[5], 4);
  for (const float value : {7.0f, 8.0f}) {
    in[5] = value;
    const int launches = card().calls["cuLaunchKernel"];
    ASSERT_TRUE(stream_->replay(*recording).ok());
    ASSERT_TRUE(stream_->wait().ok());
    EXPECT_EQ(out[5], 4 * value);
    EXPECT_EQ(card().calls["cuLaunchKernel"], launches);
  }
  // One that fails half way leaves the stream in order.
  ASSERT_TRUE(stream_->begin_recording().ok());
  EXPECT_FALSE(launch("double_all", {}).ok());
  (void)stream_->end_recording().ok();
  EXPECT_TRUE(stream_->wait().ok());
}

TEST_F(CudaDevice, WorksFromAnyThread) {
  open();
  std::vector<std::thread> threads;
  for (int number = 1; number <= 4; ++number) {
    threads.emplace_back([this, number] {
      const auto stream = device_->open_stream({}).value();
      const Memory from = device_->allocate(kBytes).value(), to = device_->allocate(kBytes).value();
      std::vector<float> values(kFloats, static_cast<float>(number));
      for (int round = 0; round < 50; ++round) {
        std::fill(values.begin(), values.end(), static_cast<float>(number + round));
        ASSERT_TRUE(stream->copy(at(from), host(values), kBytes).ok());
        const std::vector<void*> arguments{from->address(), to->address()};
        ASSERT_TRUE(stream->launch(code_->kernel("quadruple_all").value(), arguments).ok());
        ASSERT_TRUE(stream->copy(host(values), at(to), kBytes).ok());
        ASSERT_EQ(values[3], static_cast<float>(4 * (number + round)));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST_F(CudaDevice, ChecksPlansAndCode) {
  const auto object = fake_object({fake_kernel("double_all", kFloats)});
  const std::span<const std::byte> bytes(object);
  runtime::Plan plan;
  plan.kernels = {{.symbol = "double_all", .arguments = {{kBytes, false}, {kBytes, true}}}};
  EXPECT_TRUE(device_kind.check(plan, std::span(&bytes, 1)).ok());
  plan.kernels[0].arguments.pop_back();
  EXPECT_EQ(device_kind.check(plan, std::span(&bytes, 1)).error().message,
            "kernel 'double_all' takes 2 buffers, the plan gives it 1");
  plan.kernels[0].symbol = "none";
  EXPECT_EQ(device_kind.check(plan, std::span(&bytes, 1)).error().message,
            "the code for CUDA devices has no kernel 'none'");
  plan.kernels[0].object = -1;  // validate() refuses it
  EXPECT_TRUE(device_kind.check(plan, std::span(&bytes, 1)).ok());
  const auto half = bytes.first(20);
  EXPECT_FALSE(device_kind.check(plan, std::span(&half, 1)).ok());
  EXPECT_EQ(card().calls["cuInit"], 0);
  ::setenv("ATTUNE_LIBCUDA", "/nowhere", 1);
  EXPECT_EQ(device_kind.check(plan, std::span(&bytes, 1)).error().message,
            "no CUDA driver is here: /nowhere cannot be opened");
}

}  // namespace
}  // namespace attune::cuda
