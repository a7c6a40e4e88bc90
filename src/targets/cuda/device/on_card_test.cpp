// On a real card, where there is one: the same calls that other tests make to a fake driver.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <thread>

#include "base/clock.h"
#include "runtime/execution/executor.h"
#include "targets/cuda/device/card.h"
#include "targets/cuda/device/device.h"
#include "targets/cuda/device/image.h"

namespace attune::cuda {
namespace {

using namespace attune::runtime;
using Memory = std::unique_ptr<DeviceMemory>;

constexpr std::int64_t kFloats = 1 << 20;
constexpr std::int64_t kBytes = 4 * kFloats;

// double_all: B = 2 A; fault: writes to where nothing is.
constexpr const char* kPtx = R"(
.version 7.0
.target sm_70
.address_size 64
.visible .entry double_all(.param .u64 a, .param .u64 b) {
  .reg .b32 %r<5>;
  .reg .f32 %f<3>;
  .reg .b64 %rd<8>;
  ld.param.u64 %rd1, [a];
  ld.param.u64 %rd2, [b];
  cvta.to.global.u64 %rd3, %rd1;
  cvta.to.global.u64 %rd4, %rd2;
  mov.u32 %r1, %ctaid.x;
  mov.u32 %r2, %ntid.x;
  mov.u32 %r3, %tid.x;
  mad.lo.s32 %r4, %r1, %r2, %r3;
  mul.wide.s32 %rd5, %r4, 4;
  add.s64 %rd6, %rd3, %rd5;
  add.s64 %rd7, %rd4, %rd5;
  ld.global.f32 %f1, [%rd6];
  add.f32 %f2, %f1, %f1;
  st.global.f32 [%rd7], %f2;
  ret;
}
.visible .entry fault(.param .u64 a) {
  .reg .b32 %r<2>;
  .reg .b64 %rd<2>;
  mov.u64 %rd1, 16;
  mov.u32 %r1, 1;
  st.global.u32 [%rd1], %r1;
  ret;
}
)";

KernelImage image_of(const std::string& function, std::int64_t parameters) {
  KernelImage image{function, "sm_70", parameters};
  image.ptx = kPtx;
  LaunchImage launch{function, {kFloats / 256, 1, 1}, {256, 1, 1}, 0, {}};
  for (std::int64_t i = 0; i < parameters; ++i) launch.arguments.push_back({false, i});
  image.launches = {launch};
  return image;
}

// B = 4 A, by way of scratch memory.
KernelImage image_in_two() {
  KernelImage image = image_of("double_all", 2);
  image.symbol = "quadruple_all";
  image.scratch_bytes = kBytes;
  LaunchImage first = image.launches.front(), second = first;
  first.arguments[1] = {true, 0};
  second.arguments[0] = {true, 0};
  second.shared_bytes = 60'000;
  image.launches = {first, second};
  return image;
}

std::vector<std::byte> object() {
  std::vector<std::byte> bytes = write_image(image_of("double_all", 2));
  for (const KernelImage& image : {image_in_two(), image_of("fault", 1)}) {
    const std::vector<std::byte> more = write_image(image);
    bytes.insert(bytes.end(), more.begin(), more.end());
  }
  return bytes;
}

class CudaOnCard : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto driver = open_driver();
    const bool here = driver.ok() && read_cards(**driver).ok();
    if (!here) GTEST_SKIP() << "skipped: no CUDA device";
  }
};

TEST_F(CudaOnCard, ComputesCopiesAndTellsTheTime) {
  const auto device = device_kind.open("cuda").value();
  const auto code = device->load(object());
  ASSERT_TRUE(code.ok()) << code.error().message;
  const auto stream = device->open_stream({}).value();
  const Memory a = device->allocate(kBytes).value(), b = device->allocate(kBytes).value();
  std::vector<float> values(kFloats);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i);
  const Location host{Space::Host, reinterpret_cast<std::byte*>(values.data())};
  ASSERT_TRUE(stream->copy({Space::Device, a->address()}, host, kBytes).ok());
  const auto kernel = (*code)->kernel("quadruple_all").value();
  const std::vector<void*> arguments{a->address(), b->address()};
  const std::int64_t start = stream->now_ns();
  const auto first = stream->launch_timed(kernel, arguments);
  ASSERT_TRUE(first.ok()) << first.error().message;
  std::int64_t fastest = *first;
  for (int i = 0; i < 20; ++i) {
    fastest = std::min(fastest, stream->launch_timed(kernel, arguments).value());
  }
  EXPECT_GT(stream->now_ns() - start, fastest);
  // 16 MB through memory, in two launches.
  EXPECT_GT(fastest, 1'000);
  EXPECT_LT(fastest, 1'000'000);
  std::printf("two launches over 4 MB: %lld ns\n", static_cast<long long>(fastest));
  ASSERT_TRUE(stream->copy(host, {Space::Device, b->address()}, kBytes).ok());
  for (std::size_t i = 0; i < values.size(); ++i) {
    ASSERT_EQ(values[i], 4 * static_cast<float>(i)) << i;
  }
  // Ranges that overlap.
  ASSERT_TRUE(
      stream->copy({Space::Device, b->address() + 64}, {Space::Device, b->address()}, kBytes - 64)
          .ok());
  ASSERT_TRUE(stream->copy(host, {Space::Device, b->address()}, kBytes).ok());
  EXPECT_EQ(values[16], 0);
  EXPECT_EQ(values.back(), 4 * static_cast<float>(kFloats - 17));
}

Plan plan_of_doubling(int times) {
  Plan plan;
  plan.model = "doubling";
  plan.target = "cuda -arch=sm_70";
  plan.device = "cuda";
  plan.architecture = "sm_70";
  plan.kernel_space = Space::Device;
  plan.inputs = {{.name = "x", .type = DType::F32, .dims = {{kFloats}}}};
  plan.outputs = {{.name = "y", .type = DType::F32, .dims = {{kFloats}}}};
  plan.buffers = {{Place::Input, 0, kBytes},
                  {Place::Output, 0, kBytes},
                  {Place::Arena, 0, kBytes, Space::Device},
                  {Place::Arena, kBytes, kBytes, Space::Device}};
  plan.device_arena_bytes = 2 * kBytes;
  plan.kernels = {{"double_all", 0, 0, {{kBytes, false}, {kBytes, true}}}};
  plan.body = {{Copy{.from = 0, .to = 2, .bytes = kBytes}}};
  for (int i = 0; i < times; ++i) {
    plan.body.push_back({KernelCall{
        .kernel = 0, .buffers = {2 + i % 2, 3 - i % 2}, .layer = "double", .flops = 1}});
  }
  plan.body.push_back({Copy{.from = 2 + times % 2, .to = 1, .bytes = kBytes}});
  return plan;
}

std::shared_ptr<const Model> model_of(const Plan& plan) {
  const auto code = object();
  static const DeviceKind* const kinds[] = {&device_kind};
  auto artifact = Artifact::from_memory(artifact_bytes({plan, {}, {std::span(code)}}).value(),
                                        "doubling", kinds);
  return Model::from(std::move(artifact).value()).value();
}

Result<float> run(Session& session, float x) {
  const std::vector<float> in(kFloats, x);
  std::vector<float> out(kFloats);
  const std::int64_t shape[] = {kFloats};
  const InputView input{in.data(), DType::F32, shape};
  const OutputView output{out.data(), kBytes};
  ATTUNE_RETURN_IF_ERROR(session.run({&input, 1}, {&output, 1}));
  return out[kFloats - 1];
}

TEST_F(CudaOnCard, SessionsRunGraphsSideBySide) {
  constexpr int kTimes = 50;
  const auto model = model_of(plan_of_doubling(kTimes));
  std::vector<std::thread> threads;
  for (int number = 1; number <= 3; ++number) {
    threads.emplace_back([&model, number] {
      ThreadPool pool({});
      auto session = Session::create(model, pool);
      ASSERT_TRUE(session.ok()) << session.error().message;
      for (int i = 0; i < 5; ++i) {
        const auto y = run(*session, static_cast<float>(number + i));
        ASSERT_TRUE(y.ok()) << y.error().message;
        EXPECT_EQ(*y, std::ldexp(static_cast<float>(number + i), kTimes));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST_F(CudaOnCard, AGraphIsOneLaunch) {
  constexpr int kTimes = 50;
  ThreadPool pool({});
  Session session = Session::create(model_of(plan_of_doubling(kTimes)), pool).value();
  ASSERT_TRUE(run(session, 1).ok());
  const auto us_of = [&](int runs) {
    const SteadyClock clock;
    const std::int64_t start = session.now_ns(), wall = clock.now_ns();
    for (int i = 0; i < runs; ++i) EXPECT_TRUE(session.run_again().ok());
    const double device = static_cast<double>(session.now_ns() - start) * 1e-3 / runs;
    std::printf("%d launches in %d runs: %.1f us each by the card, %.1f by the host\n", kTimes,
                runs, device, seconds_between(wall, clock.now_ns()) * 1e6 / runs);
    return device;
  };
  const double one_by_one = us_of(1);
  us_of(1);  // records
  EXPECT_LT(us_of(100), one_by_one);
  Profile profile;
  const std::vector<float> in(kFloats, 1);
  std::vector<float> out(kFloats);
  const std::int64_t shape[] = {kFloats};
  const InputView input{in.data(), DType::F32, shape};
  const OutputView output{out.data(), kBytes};
  for (int i = 0; i < 5; ++i) ASSERT_TRUE(session.run({&input, 1}, {&output, 1}, &profile).ok());
  EXPECT_LT(profile.layers()[7].fastest_ns, 100'000);
  std::printf("a kernel by itself: %lld ns\n",
              static_cast<long long>(profile.layers()[7].fastest_ns));
}

// double_waiting: B = 2 A, as our code generator writes it.
constexpr const char* kWaitingPtx = R"(
.version 7.8
.target sm_90
.address_size 64
.visible .entry double_waiting(.param .u64 a, .param .u64 b, .param .u32 overlap) {
  .reg .pred %p<3>;
  .reg .b32 %r<6>;
  .reg .f32 %f<3>;
  .reg .b64 %rd<8>;
  ld.param.u64 %rd1, [a];
  ld.param.u64 %rd2, [b];
  ld.param.u32 %r5, [overlap];
  setp.ne.s32 %p1, %r5, 1;
  @%p1 bra PLACE;
  griddepcontrol.launch_dependents;
PLACE:
  cvta.to.global.u64 %rd3, %rd1;
  cvta.to.global.u64 %rd4, %rd2;
  mov.u32 %r1, %ctaid.x;
  mov.u32 %r2, %ntid.x;
  mov.u32 %r3, %tid.x;
  mad.lo.s32 %r4, %r1, %r2, %r3;
  mul.wide.s32 %rd5, %r4, 4;
  add.s64 %rd6, %rd3, %rd5;
  add.s64 %rd7, %rd4, %rd5;
  griddepcontrol.wait;
  ld.global.nc.f32 %f1, [%rd6];
  add.f32 %f2, %f1, %f1;
  setp.ne.s32 %p2, %r5, 2;
  @%p2 bra WRITE;
  griddepcontrol.launch_dependents;
WRITE:
  st.global.f32 [%rd7], %f2;
  ret;
}
)";

// Each launch reads what the one before it wrote, in a recording and without.
TEST_F(CudaOnCard, LaunchesKeepTheirOrderInEveryWay) {
  if (read_cards(**open_driver()).value().front().compute.major < 9) {
    GTEST_SKIP() << "skipped: launches of this card do not overlap";
  }
  constexpr std::int64_t kBlocks = 100, kSome = 256 * kBlocks;
  constexpr int kLaunches = 60, kReplays = 20;
  KernelImage image{"double_waiting", "sm_90", 2};
  image.ptx = kWaitingPtx;
  image.launches = {{"double_waiting", {kBlocks, 1, 1}, {256, 1, 1}, 0, {{false, 0}, {false, 1}}}};
  image.launches[0].waits = true;
  const auto device = device_kind.open("cuda").value();
  const auto code = device->load(write_image(image)).value();
  const auto kernel = code->kernel("double_waiting").value();
  ASSERT_EQ(code->launch_ways(kernel), std::vector<int>{6});
  const auto stream = device->open_stream({}).value();
  const Memory a = device->allocate(4 * kSome).value(), b = device->allocate(4 * kSome).value();
  std::vector<float> values(kSome);
  const Location host{Space::Host, reinterpret_cast<std::byte*>(values.data())};
  const auto launch_all = [&] {
    for (int i = 0; i < kLaunches; ++i) {
      const std::vector<void*> there{a->address(), b->address()};
      const std::vector<void*> back{b->address(), a->address()};
      ASSERT_TRUE(stream->launch(kernel, i % 2 == 0 ? there : back).ok());
    }
  };
  for (int way = 0; way < 6; ++way) {
    ASSERT_TRUE(code->choose_way(kernel, 0, way).ok());
    const auto expect_doubled = [&](const std::function<void()>& work) {
      std::fill(values.begin(), values.end(), 1.0F);
      ASSERT_TRUE(stream->copy({Space::Device, a->address()}, host, 4 * kSome).ok());
      work();
      ASSERT_TRUE(stream->copy(host, {Space::Device, a->address()}, 4 * kSome).ok());
      for (const float value : values) ASSERT_EQ(value, std::ldexp(1.0F, kLaunches)) << way;
    };
    expect_doubled(launch_all);
    ASSERT_TRUE(stream->begin_recording().ok());
    launch_all();
    const auto recording = stream->end_recording();
    ASSERT_TRUE(recording.ok()) << recording.error().message;
    double fastest = 1e9;
    for (int i = 0; i < kReplays; ++i) {
      expect_doubled([&] {
        const std::int64_t start = stream->now_ns();
        ASSERT_TRUE(stream->replay(**recording).ok());
        fastest = std::min(fastest, static_cast<double>(stream->now_ns() - start));
      });
    }
    std::printf("way %d: %.2f us a launch\n", way, fastest * 1e-3 / kLaunches);
  }
}

TEST_F(CudaOnCard, SaysHowItIs) {
  const auto condition = device_kind.open("cuda").value()->condition();
  ASSERT_TRUE(condition.ok()) << condition.error().message;
  std::printf("the card: %s\n", condition->c_str());
}

// Nothing works on the card after it, so it comes last.
TEST_F(CudaOnCard, ZFaultsAreErrors) {
  const auto device = device_kind.open("cuda").value();
  const auto code = device->load(object()).value();
  const auto stream = device->open_stream({}).value();
  const Memory a = device->allocate(64).value();
  const std::vector<void*> arguments{a->address()};
  const Status launched = stream->launch(code->kernel("fault").value(), arguments);
  const Status waited = launched.ok() ? stream->wait() : launched;
  ASSERT_FALSE(waited.ok());
  EXPECT_NE(waited.error().message.find("CUDA_ERROR_ILLEGAL_ADDRESS"), std::string::npos)
      << waited.error().message;
}

}  // namespace
}  // namespace attune::cuda
