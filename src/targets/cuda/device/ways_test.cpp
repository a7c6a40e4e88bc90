// Launches that begin before those in front of them have ended. The fake card runs one that does
// not wait before the work in front of it, and refuses one that has no launch in front of it.
#include <gtest/gtest.h>

#include "targets/cuda/device/device.h"
#include "targets/cuda/device/fake_driver_testing.h"

namespace attune::cuda {
namespace {

using runtime::Location;
using runtime::Space;
using Lines = std::vector<std::string>;

constexpr std::int64_t kFloats = 16;
constexpr std::size_t kBytes = 4 * kFloats;
enum : int { kPlain, kEarly, kMid, kEnd, kEarlyAlone, kMidAlone };

class CudaWays : public ::testing::Test {
 protected:
  void open() {
    device_ = device_kind.open("cuda -arch=sm_90a").value();
    const auto object =
        fake_object({fake_kernel("double_waiting", kFloats), fake_kernel("add_waiting", kFloats),
                     fake_kernel("double_all", kFloats)});
    code_ = device_->load(object).value();
    stream_ = device_->open_stream({}).value();
    a_ = device_->allocate(kBytes).value();
    b_ = device_->allocate(kBytes).value();
    std::vector<float> ones(kFloats, 1);
    ASSERT_TRUE(stream_->copy(at(a_), host(ones), kBytes).ok());
  }
  void TearDown() override { a_.reset(), b_.reset(), stream_.reset(), code_.reset(); }

  runtime::KernelHandle kernel(const char* symbol) { return code_->kernel(symbol).value(); }
  void choose(const char* symbol, int way) {
    ASSERT_TRUE(code_->choose_way(kernel(symbol), 0, way).ok());
  }
  void launch(const char* symbol, bool back = false) {
    void* const there[] = {a_->address(), b_->address()};
    void* const here[] = {b_->address(), a_->address()};
    ASSERT_TRUE(stream_->launch(kernel(symbol), back ? here : there).ok());
  }
  float first(const std::unique_ptr<runtime::DeviceMemory>& block) {
    std::vector<float> values(kFloats);
    EXPECT_TRUE(stream_->copy(host(values), at(block), kBytes).ok());
    return values[0];
  }
  static Location at(const std::unique_ptr<runtime::DeviceMemory>& block) {
    return {Space::Device, block->address()};
  }
  static Location host(std::vector<float>& values) {
    return {Space::Host, reinterpret_cast<std::byte*>(values.data())};
  }
  Lines ran() { return std::exchange(fake_.card().launched, {}); }

  FakeDriver fake_{built_path(ATTUNE_TEST_DRIVER)};
  std::unique_ptr<runtime::Device> device_;
  std::unique_ptr<runtime::LoadedCode> code_;
  std::unique_ptr<runtime::Stream> stream_;
  std::unique_ptr<runtime::DeviceMemory> a_, b_;
};

TEST_F(CudaWays, LaunchesArePlainUnlessSaidOtherwise) {
  open();
  launch("double_waiting");
  launch("double_waiting", true);
  EXPECT_EQ(first(a_), 4);
  EXPECT_EQ(ran(), (Lines{"double_waiting 0", "double_waiting 0"}));
  EXPECT_EQ(fake_.card().calls["cuLaunchKernelEx"], 0);
}

TEST_F(CudaWays, TheNextBeginsEarlyWhereTheOneBeforeMakesRoom) {
  open();
  for (const int way : {kEarly, kMid, kEnd, kEarlyAlone, kMidAlone}) {
    choose("double_waiting", way);
    const std::string word = way == kEnd ? "3" : way % 3 == kEarly ? "1" : "2";
    launch("double_waiting");
    launch("double_waiting", true);
    launch("double_waiting");
    EXPECT_EQ(first(b_), 2 * first(a_));
    EXPECT_EQ(ran(), (Lines{"double_waiting " + word, "double_waiting early " + word,
                            "double_waiting early " + word}));
  }
}

// It would run before what it reads is written.
TEST_F(CudaWays, WhatDoesNotWaitDoesNotBeginEarly) {
  open();
  choose("double_waiting", kEarly);
  launch("double_waiting");
  launch("double_all", true);
  launch("double_waiting");
  EXPECT_EQ(first(b_), 8);
  EXPECT_EQ(ran(), (Lines{"double_waiting 1", "double_all 0", "double_waiting 1"}));
}

TEST_F(CudaWays, NothingBeginsBeforeACopyOrAMomentOfTheClockHasEnded) {
  open();
  choose("double_waiting", kEarly);
  const std::function<void()> between[] = {
      [&] { ASSERT_TRUE(stream_->copy(at(a_), at(b_), kBytes).ok()); },
      [&] { (void)stream_->now_ns(); },
      [&] {
        ASSERT_TRUE(stream_
                        ->launch_timed(kernel("double_all"),
                                       std::vector<void*>{a_->address(), b_->address()})
                        .ok());
      }};
  for (const auto& happens : between) {
    launch("double_waiting");
    happens();
    launch("double_waiting", true);
    ASSERT_TRUE(stream_->wait().ok());
    EXPECT_EQ(ran().back(), "double_waiting 1");
  }
}

TEST_F(CudaWays, RecordingsHaveThemToo) {
  open();
  choose("double_waiting", kMid);
  launch("double_waiting");
  ASSERT_TRUE(stream_->begin_recording().ok());
  launch("double_waiting");
  launch("double_waiting", true);
  const auto recording = stream_->end_recording().value();
  ASSERT_TRUE(stream_->wait().ok());
  (void)ran();
  for (int i = 0; i < 2; ++i) ASSERT_TRUE(stream_->replay(*recording).ok());
  EXPECT_EQ(first(a_), 16);
  EXPECT_EQ(ran(), (Lines{"double_waiting 2", "double_waiting early 2", "double_waiting 2",
                          "double_waiting early 2"}));
}

TEST_F(CudaWays, BlocksThatAreAloneTakeMoreThanHalfOfTheSharedMemory) {
  open();
  EXPECT_EQ(code_->launch_ways(kernel("double_waiting")), std::vector<int>{6});
  EXPECT_EQ(code_->launch_ways(kernel("double_all")), std::vector<int>{1});
  choose("double_waiting", kEarlyAlone);
  launch("double_waiting");
  ASSERT_TRUE(stream_->wait().ok());
  EXPECT_GT(2 * fake_.card().last_shared_bytes, fake_.card().resident_shared_bytes);
  choose("double_waiting", kEarly);
  launch("double_waiting");
  ASSERT_TRUE(stream_->wait().ok());
  EXPECT_EQ(fake_.card().last_shared_bytes, 0);
}

TEST_F(CudaWays, AreKeptInTheImage) {
  const auto object = fake_object({fake_kernel("double_waiting", kFloats)});
  const auto changed = device_kind.with_ways(object, {{"double_waiting", {kMidAlone}}}).value();
  EXPECT_EQ(read_images(changed).value()[0].launches[0].way, kMidAlone);
  EXPECT_EQ(device_kind.with_ways(object, {{"another", {1}}}).value(), object);
  open();
  code_ = device_->load(changed).value();
  launch("double_waiting");
  launch("double_waiting", true);
  EXPECT_EQ(first(a_), 4);
  EXPECT_EQ(ran()[1], "double_waiting early 2");
}

TEST_F(CudaWays, CanBeWishedForAllOfThem) {
  ::setenv("ATTUNE_CUDA_WAY", "4", 1);
  open();
  ::unsetenv("ATTUNE_CUDA_WAY");
  launch("double_waiting");
  launch("double_waiting", true);
  launch("double_all");
  EXPECT_EQ(first(b_), 8);
  EXPECT_EQ(ran(), (Lines{"double_waiting 1", "double_waiting early 1", "double_all 0"}));
}

}  // namespace
}  // namespace attune::cuda
