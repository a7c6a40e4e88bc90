// Whole plans on the fake card: what a session records, when, and that results stay right.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <thread>

#include "runtime/execution/executor.h"
#include "targets/cuda/device/device.h"
#include "targets/cuda/device/fake_driver_testing.h"

namespace attune::cuda {
namespace {

using namespace attune::runtime;

constexpr std::int64_t kFloats = 16;
constexpr std::int64_t kBytes = 4 * kFloats;

enum Kernels : std::int32_t { kDouble, kAdd, kQuadruple, kFault };

Buffer on_device(std::int64_t number) { return {Place::Arena, 64 * number, kBytes, Space::Device}; }

KernelCall call(Kernels kernel, std::vector<BufferId> buffers, const char* layer = "layer") {
  return {.kernel = kernel, .buffers = std::move(buffers), .layer = layer, .flops = 1};
}

// Buffers: 0 the input, 1 the output, 2 … 5 of the device's arena, 6 of the host's, 7 weights, 8 of
// the host's.
Plan empty_plan() {
  Plan plan;
  plan.model = "sample";
  plan.target = "cuda -arch=sm_90a";
  plan.device = "cuda";
  plan.architecture = "sm_90a";
  plan.kernel_space = Space::Device;
  plan.inputs = {{.name = "x", .type = DType::F32, .dims = {{kFloats}}}};
  plan.outputs = {{.name = "y", .type = DType::F32, .dims = {{kFloats}}}};
  plan.buffers = {{Place::Input, 0, kBytes},
                  {Place::Output, 0, kBytes},
                  on_device(0),
                  on_device(1),
                  on_device(2),
                  on_device(3),
                  {Place::Arena, 0, kBytes},
                  {Place::Constant, 0, kBytes, Space::Device},
                  {Place::Arena, 64, kBytes}};
  plan.arena_bytes = 128;
  plan.device_arena_bytes = 4 * 64;
  const KernelArgument in{kBytes, false}, out{kBytes, true};
  plan.kernels = {{"double_all", 0, 0, {in, out}},
                  {"add_all", 0, 0, {in, in, out}},
                  {"quadruple_all", 0, 0, {in, out}},
                  {"fault", 0, 0, {in}}};
  return plan;
}

// y = 4 (2 x + weights), weights[i] = i.
Plan straight_plan() {
  Plan plan = empty_plan();
  plan.body = {{Copy{.from = 0, .to = 2, .bytes = kBytes}},
               {call(kDouble, {2, 3}, "double")},
               {call(kAdd, {3, 7, 4}, "add")},
               {call(kQuadruple, {4, 5}, "quadruple")},
               {Copy{.from = 5, .to = 1, .bytes = kBytes}}};
  return plan;
}

class CudaSession : public ::testing::Test {
 protected:
  FakeCard& card() { return fake_.card(); }

  std::shared_ptr<const Model> model_of(const Plan& plan) {
    std::vector<float> weights(kFloats);
    for (std::size_t i = 0; i < weights.size(); ++i) weights[i] = static_cast<float>(i);
    const auto object =
        fake_object({fake_kernel("double_all", kFloats), fake_kernel("add_all", kFloats),
                     fake_kernel_in_two(kFloats), fake_kernel("fault", kFloats)});
    auto bytes =
        artifact_bytes({plan, {{0, std::as_bytes(std::span(weights))}}, {std::span(object)}});
    CHECK(bytes.ok(), bytes.error().message);
    static const DeviceKind* const kinds[] = {&device_kind};
    auto artifact = Artifact::from_memory(std::move(bytes).value(), "sample", kinds);
    CHECK(artifact.ok(), artifact.error().message);
    return Model::from(std::move(artifact).value()).value();
  }
  Session session_of(const Plan& plan) { return Session::create(model_of(plan), pool_).value(); }

  // y for an input of x everywhere, from memory that is somewhere else each time.
  static Result<std::vector<float>> run(Session& session, float x, Profile* profile = nullptr) {
    const std::vector<float> in(kFloats, x);
    std::vector<float> out(kFloats, -1);
    const std::int64_t shape[] = {kFloats};
    const InputView input{in.data(), DType::F32, shape};
    const OutputView output{out.data(), kBytes};
    ATTUNE_RETURN_IF_ERROR(session.run({&input, 1}, {&output, 1}, profile));
    return out;
  }
  float third(Session& session, float x) {
    const auto y = run(session, x);
    EXPECT_TRUE(y.ok()) << y.error().message;
    return y.ok() ? (*y)[3] : -1;
  }

  FakeDriver fake_{built_path(ATTUNE_TEST_DRIVER)};
  ThreadPool pool_{{}};
};

TEST_F(CudaSession, RunsAPlanAsOneGraphFromTheSecondTimeOn) {
  Session session = session_of(straight_plan());
  EXPECT_EQ(third(session, 1), 4 * (2 + 3));
  EXPECT_EQ(card().calls["cuGraphLaunch"], 0);
  EXPECT_EQ(third(session, 2), 4 * (4 + 3));
  EXPECT_EQ(card().calls["cuGraphLaunch"], 1);
  const int launches = card().calls["cuLaunchKernel"], copies = card().calls["cuMemcpyHtoDAsync"];
  for (int x = 3; x < 10; ++x) EXPECT_EQ(third(session, static_cast<float>(x)), 4 * (2 * x + 3));
  EXPECT_EQ(card().calls["cuGraphLaunch"], 8);
  EXPECT_EQ(card().calls["cuGraphInstantiate"], 1);
  EXPECT_EQ(card().calls["cuLaunchKernel"], launches);
  EXPECT_EQ(card().calls["cuMemcpyHtoDAsync"], copies);
}

TEST_F(CudaSession, RunsKernelsAgainAsAGraphOfTheirOwn) {
  Session session = session_of(straight_plan());
  EXPECT_EQ(third(session, 1), 20);
  const int copies = card().calls["cuMemcpyDtoHAsync"];
  ASSERT_TRUE(session.run_again().ok());
  const std::int64_t start = session.now_ns();
  for (int i = 0; i < 5; ++i) ASSERT_TRUE(session.run_again().ok());
  EXPECT_EQ(session.now_ns() - start, 5 * 4000);  // launches of 1 us
  EXPECT_EQ(card().calls["cuGraphLaunch"], 5);
  EXPECT_EQ(card().calls["cuMemcpyDtoHAsync"], copies);
  EXPECT_EQ(third(session, 2), 28);
  EXPECT_EQ(card().calls["cuGraphInstantiate"], 2);
}

TEST_F(CudaSession, TimesManyRunsAsOneGraph) {
  Session session = session_of(straight_plan());
  EXPECT_TRUE(session.is_one_recording());
  EXPECT_EQ(third(session, 1), 20);
  for (int turn = 1; turn < 4; ++turn) {
    EXPECT_NEAR(session.time_again(50).value(), 4, 1e-3);  // launches of 1 us each
    EXPECT_EQ(card().calls["cuGraphLaunch"], turn);
    EXPECT_EQ(card().calls["cuGraphInstantiate"], 1);
  }
  EXPECT_NEAR(session.time_again(7).value(), 4, 1e-3);
  EXPECT_EQ(card().calls["cuGraphInstantiate"], 2);
  EXPECT_EQ(third(session, 2), 28);
}

TEST_F(CudaSession, TimesSeveralSessionsAsOneGraph) {
  Session one = session_of(straight_plan()), two = session_of(straight_plan());
  EXPECT_EQ(third(one, 1), 20);
  EXPECT_EQ(third(two, 2), 28);
  Session* const both[] = {&one, &two, &one};
  for (int turn = 1; turn < 3; ++turn) {
    EXPECT_NEAR(Session::time_together(both, 5).value(), 12, 1e-3);
    EXPECT_EQ(card().calls["cuGraphLaunch"], turn);
    EXPECT_EQ(card().calls["cuGraphInstantiate"], 1);
  }
  EXPECT_EQ(third(one, 3), 36);
  EXPECT_EQ(third(two, 4), 44);
}

// What the host does between two runs is between them when they are timed, too.
TEST_F(CudaSession, TimesRunsOneByOneWhereTheHostHasAPart) {
  Plan plan = empty_plan();
  const Operand input{0, DType::F32, {{kFloats}}}, other{6, DType::F32, {{kFloats}}};
  plan.body = {{HostCall{"Neg", {}, {input}, {other}, "neg"}},
               {Copy{.from = 6, .to = 2, .bytes = kBytes}},
               {call(kDouble, {2, 3})},
               {Copy{.from = 3, .to = 1, .bytes = kBytes}}};
  Session session = session_of(plan);
  EXPECT_FALSE(session.is_one_recording());
  EXPECT_EQ(third(session, 1), -2);
  EXPECT_NEAR(session.time_again(8).value(), 1, 1e-3);
  EXPECT_EQ(third(session, 3), -6);
}

TEST_F(CudaSession, ProfilesKernelByKernel) {
  Session session = session_of(straight_plan());
  for (int i = 0; i < 3; ++i) EXPECT_EQ(third(session, 1), 20);
  const int graphs = card().calls["cuGraphLaunch"];
  Profile profile;
  EXPECT_EQ(run(session, 2, &profile).value()[3], 28);
  EXPECT_EQ(card().calls["cuGraphLaunch"], graphs);
  ASSERT_EQ(profile.layers().size(), 3u);
  EXPECT_EQ(profile.layers()[0].layer, "double");
  EXPECT_EQ(profile.layers()[0].total_ns, 1000);
  EXPECT_EQ(profile.layers()[2].total_ns, 2000);
  EXPECT_EQ(profile.layers()[2].calls, 1);
}

// y = 2 neg(2 x): the host has a part in it.
TEST_F(CudaSession, RecordsBetweenHostOperators) {
  Plan plan = empty_plan();
  const Operand before{6, DType::F32, {{kFloats}}}, after{8, DType::F32, {{kFloats}}};
  plan.body = {
      {Copy{.from = 0, .to = 2, .bytes = kBytes}}, {call(kDouble, {2, 3})},
      {Copy{.from = 3, .to = 6, .bytes = kBytes}}, {HostCall{"Neg", {}, {before}, {after}, "neg"}},
      {Copy{.from = 8, .to = 4, .bytes = kBytes}}, {call(kDouble, {4, 5})},
      {Copy{.from = 5, .to = 1, .bytes = kBytes}}};
  Session session = session_of(plan);
  for (int x = 1; x < 6; ++x) EXPECT_EQ(third(session, static_cast<float>(x)), -4 * x);
  EXPECT_EQ(card().calls["cuGraphLaunch"], 2 * 4);
  EXPECT_EQ(card().calls["cuGraphInstantiate"], 2);
}

// An output that a host operator reads when the card has written it.
TEST_F(CudaSession, WaitsForWhatTheHostReads) {
  Plan plan = empty_plan();
  const Operand output{1, DType::F32, {{kFloats}}}, after{6, DType::F32, {{kFloats}}};
  plan.body = {
      {Copy{.from = 0, .to = 2, .bytes = kBytes}}, {call(kDouble, {2, 3})},
      {Copy{.from = 3, .to = 1, .bytes = kBytes}}, {HostCall{"Neg", {}, {output}, {after}, "neg"}},
      {Copy{.from = 6, .to = 4, .bytes = kBytes}}, {call(kDouble, {4, 5})},
      {Copy{.from = 5, .to = 1, .bytes = kBytes}}};
  Session session = session_of(plan);
  for (int x = 1; x < 6; ++x) EXPECT_EQ(third(session, static_cast<float>(x)), -4 * x);
}

// Two host operators write the same output, one after the other, each for the card to read.
TEST_F(CudaSession, WaitsBeforeTheHostWritesAgain) {
  Plan plan = empty_plan();
  const Operand input{0, DType::F32, {{kFloats}}}, output{1, DType::F32, {{kFloats}}};
  plan.body = {{HostCall{"Neg", {}, {input}, {output}, "neg"}},
               {Copy{.from = 1, .to = 2, .bytes = kBytes}},
               {HostCall{"Abs", {}, {input}, {output}, "abs"}},
               {Copy{.from = 1, .to = 3, .bytes = kBytes}},
               {call(kAdd, {2, 3, 4})},
               {Copy{.from = 4, .to = 1, .bytes = kBytes}}};
  Session session = session_of(plan);
  for (int x = 1; x < 4; ++x) EXPECT_EQ(third(session, static_cast<float>(x)), 0);
}

// y = 2^5 x: buffers change hands from one iteration to the next.
TEST_F(CudaSession, RecordsLoopsOfFixedLengthAsAWhole) {
  Plan plan = empty_plan();
  Loop loop{.trip_count = 5, .body = {{call(kDouble, {2, 3})}}, .layer = "", .handovers = {{2, 3}}};
  plan.body = {{Copy{.from = 0, .to = 2, .bytes = kBytes}},
               {loop},
               {Copy{.from = 2, .to = 1, .bytes = kBytes}}};
  Session session = session_of(plan);
  for (int x = 1; x < 6; ++x) EXPECT_EQ(third(session, static_cast<float>(x)), 32 * x);
  EXPECT_EQ(card().calls["cuGraphLaunch"], 4);
}

// The same in a loop whose length is data: what it does to handed over buffers is not recorded.
TEST_F(CudaSession, RecordsNothingThatChangesFromRunToRun) {
  Plan plan = empty_plan();
  plan.inputs.push_back({.name = "trips", .type = DType::I64, .dims = {}});
  plan.buffers.push_back({Place::Input, 1, 8});
  Loop loop{.trip_count_buffer = 9,
            .body = {{call(kDouble, {2, 3})}, {call(kDouble, {4, 5})}},
            .layer = "",
            .handovers = {{2, 3}}};
  plan.body = {{Copy{.from = 0, .to = 2, .bytes = kBytes}},
               {loop},
               {Copy{.from = 2, .to = 1, .bytes = kBytes}}};
  Session session = session_of(plan);
  const std::vector<float> in(kFloats, 1);
  std::vector<float> out(kFloats);
  const std::int64_t shape[] = {kFloats};
  for (const std::int64_t trips : {3, 2, 0, 5, 4}) {
    const InputView inputs[] = {{in.data(), DType::F32, shape}, {&trips, DType::I64, {}}};
    const OutputView output{out.data(), kBytes};
    ASSERT_TRUE(session.run(inputs, {&output, 1}).ok());
    EXPECT_EQ(out[7], static_cast<float>(1 << trips));
  }
  EXPECT_EQ(card().calls["cuGraphInstantiate"], 1);  // of the call that changes nothing
}

TEST_F(CudaSession, ErrorsSayWhichLayer) {
  Plan plan = straight_plan();
  plan.body.insert(plan.body.begin() + 1, {call(kFault, {2}, "broken")});
  Session session = session_of(plan);
  const auto y = run(session, 1);
  ASSERT_FALSE(y.ok());
  EXPECT_NE(y.error().message.find("CUDA_ERROR_ILLEGAL_ADDRESS"), std::string::npos);
  FakeDriver anew(built_path(ATTUNE_TEST_DRIVER));
  Session other = session_of(straight_plan());
  fake_.fail("cuLaunchKernel", 2, 999);
  EXPECT_EQ(run(other, 1).error().message,
            "layer 'add': kernel 'add_all': cuLaunchKernel gave CUDA_ERROR_OF_TESTS (999, what "
            "tests wanted)");
  EXPECT_EQ(third(other, 1), 20);
}

TEST_F(CudaSession, GoesOnWithoutGraphsWhereTheyCannotBeMade) {
  for (const char* what : {"cuStreamBeginCapture", "cuStreamEndCapture", "cuGraphInstantiate"}) {
    FakeDriver anew(built_path(ATTUNE_TEST_DRIVER));
    Session session = session_of(straight_plan());
    EXPECT_EQ(third(session, 1), 20);
    anew.fail(what, 1, 900);
    for (int i = 0; i < 3; ++i) EXPECT_EQ(third(session, 2), 28) << what;
    EXPECT_EQ(anew.card().calls["cuGraphLaunch"], 0) << what;
  }
}

TEST_F(CudaSession, SessionsRunSideBySide) {
  const auto model = model_of(straight_plan());
  std::vector<std::thread> threads;
  for (int number = 0; number < 4; ++number) {
    threads.emplace_back([this, model, number] {
      ThreadPool pool({});
      Session session = Session::create(model, pool).value();
      for (int x = number; x < number + 30; ++x) {
        ASSERT_EQ(third(session, static_cast<float>(x)), 4 * (2 * x + 3));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(card().calls["cuInit"], 1);
}

// Models are loaded in one process and run in forks of it.
TEST_F(CudaSession, AModelRunsInForksOfTheProcessThatLoadedIt) {
  const auto model = model_of(straight_plan());
  EXPECT_EQ(card().calls["cuInit"], 0);
  for (int i = 0; i < 2; ++i) {
    const pid_t child = ::fork();
    if (child == 0) {
      auto session = Session::create(model, pool_);
      ::_exit(session.ok() && third(*session, 1) == 20 ? 0 : 1);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
  }
}

TEST_F(CudaSession, NeedsACardThatRunsItsCode) {
  card().major = 8;
  const auto model = model_of(straight_plan());
  const auto session = Session::create(model, pool_);
  ASSERT_FALSE(session.ok());
  EXPECT_EQ(session.error().message,
            "kernel 'double_all' is for sm_90a, the card here, Fake H200, is sm_80");
  EXPECT_EQ(session.error().hint, "compile the model again with --target 'cuda -arch=sm_80'");
}

}  // namespace
}  // namespace attune::cuda
