#include "runtime/execution/executor.h"

#include <gtest/gtest.h>

#include <thread>

#include "runtime/format/sample_model_testing.h"
#include "runtime/memory/tensor.h"

namespace attune::runtime {
namespace {

Session session_of(const SampleModel& sample, ThreadPool& pool) {
  auto session = Session::create(sample.model(), pool);
  EXPECT_TRUE(session.ok());
  return std::move(session).value();
}

// One run of sum_model on x[i] = start + i, at memory `shift` bytes off alignment.
Status run_sum(Session& session, float start, std::size_t shift, std::vector<float>& y) {
  std::vector<std::byte> memory(8000 + 256);
  std::byte* base = memory.data() + (64 - reinterpret_cast<std::uintptr_t>(memory.data()) % 64);
  auto* x = reinterpret_cast<float*>(base + shift);
  auto* out = reinterpret_cast<float*>(base + 4032 + shift);
  for (int i = 0; i < 1000; ++i) x[i] = start + static_cast<float>(i);
  const std::int64_t shape[] = {1000};
  const InputView input{x, DType::F32, shape};
  const OutputView output{out, 4000};
  const Status done = session.run({&input, 1}, {&output, 1});
  y.assign(out, out + 1000);
  return done;
}

void expect_sum(const std::vector<float>& y, float start) {
  for (int i = 0; i < 1000; ++i) {
    const auto n = static_cast<float>(i);
    ASSERT_EQ(y[static_cast<std::size_t>(i)], 2.0f * (start + n + n)) << i;
  }
}

TEST(Executor, RunsKernelsInOrder) {
  ThreadPool pool({.workers = 2});
  Session session = session_of(sum_model(), pool);
  for (const std::size_t shift : {0, 4, 32}) {
    std::vector<float> y;
    const Status done = run_sum(session, 1.0f, shift, y);
    ASSERT_TRUE(done.ok()) << done.error().message;
    expect_sum(y, 1.0f);
  }
  ASSERT_EQ(session.output_shape(0).size(), 1u);
  EXPECT_EQ(session.output_shape(0)[0], 1000);
  EXPECT_EQ(session.bytes(), 4096u + 8000u);  // with the copies of unaligned memory
}

TEST(Executor, SessionsOfOneModelRunAtTheSameTime) {
  ThreadPool pool({.workers = 2});
  const auto model = sum_model().model();
  const auto work = [&](float start) {
    auto session = Session::create(model, pool);
    ASSERT_TRUE(session.ok());
    for (int round = 0; round < 50; ++round) {
      std::vector<float> y;
      ASSERT_TRUE(run_sum(*session, start + static_cast<float>(round), 0, y).ok());
      expect_sum(y, start + static_cast<float>(round));
    }
  };
  std::thread other(work, 1000.0f);
  work(0.0f);
  other.join();
}

TEST(Executor, ChecksWhatItIsGiven) {
  ThreadPool pool({});
  Session session = session_of(sum_model(), pool);
  auto x = Tensor::allocate(DType::F32, {1000});
  auto y = Tensor::allocate(DType::F32, {1000});
  const std::int64_t right[] = {1000};
  const std::int64_t wrong[] = {10, 100};
  const auto message = [&](InputView input, OutputView output) {
    return session.run({&input, 1}, {&output, 1}).error().message;
  };
  const OutputView room{y->data(), y->bytes()};
  EXPECT_EQ(message({x->data(), DType::F32, wrong}, room),
            "input 'x' has shape 10x100, the model takes 1000");
  EXPECT_EQ(message({x->data(), DType::I32, right}, room), "input 'x' is i32, the model takes f32");
  EXPECT_EQ(message({nullptr, DType::F32, right}, room), "input 'x' has no data");
  EXPECT_EQ(message({x->data(), DType::F32, right}, {y->data(), 3999}),
            "output 'y' has room for 3999 bytes and needs 4000");
  EXPECT_EQ(session.run({}, {}).error().message,
            "the model takes 1 inputs and gives 1 outputs, not 0 and 0");
}

TEST(Executor, RunsAgainOnTheSameMemory) {
  ThreadPool pool({});
  Session session = session_of(sum_model(), pool);
  auto x = Tensor::allocate(DType::F32, {1000});
  auto y = Tensor::allocate(DType::F32, {1000});
  const std::int64_t shape[] = {1000};
  const InputView input{x->data(), DType::F32, shape};
  const OutputView output{y->data(), y->bytes()};
  ASSERT_TRUE(session.run({&input, 1}, {&output, 1}).ok());
  const std::span<float> sums = y->as<float>();
  const std::vector<float> first(sums.begin(), sums.end());
  std::fill(sums.begin(), sums.end(), -1.0f);
  ASSERT_TRUE(session.run_again().ok());
  EXPECT_EQ(std::vector<float>(sums.begin(), sums.end()), first);
}

TEST(Executor, ReportsFailingKernels) {
  SampleModel sample = sum_model();
  sample.plan.kernels[0] = {.symbol = "refuse", .object = 1, .workspace_bytes = 0, .arguments = {}};
  sample.plan.body = {{KernelCall{.kernel = 0, .buffers = {}, .layer = "first", .flops = 0}}};
  ThreadPool pool({});
  Session session = session_of(sample, pool);
  std::vector<float> y;
  EXPECT_EQ(run_sum(session, 0, 0, y).error().message, "layer 'first': kernel returned status 7");
  sample.plan.kernels[0].symbol = "nothing";
  auto artifact = Artifact::from_memory(sample.bytes(), "sample");
  EXPECT_EQ(Model::from(std::move(artifact).value()).error().message,
            "kernel object has no function 'nothing'");
}

struct HostResult {
  Status status;
  std::vector<float> found;
  std::vector<float> steps;
};

HostResult run_host_model(Session& session, const std::vector<float>& x, bool choose,
                          Profile* profile = nullptr) {
  const std::int64_t eight[] = {8};
  const InputView inputs[] = {{x.data(), DType::F32, eight}, {&choose, DType::Bool, {}}};
  HostResult result;
  result.found.resize(8);
  result.steps.resize(24);
  const OutputView outputs[] = {{result.found.data(), 32}, {result.steps.data(), 96}};
  result.status = session.run(inputs, outputs, profile);
  return result;
}

TEST(Executor, RunsHostOperatorsLoopsAndBranches) {
  ThreadPool pool({});
  Session session = session_of(host_model(), pool);
  const HostResult sum = run_host_model(session, {0, 5, 0, 1, 0, 0, 2, 0}, true);
  ASSERT_TRUE(sum.status.ok()) << sum.status.error().message;
  ASSERT_EQ(session.output_shape(0)[0], 3);
  EXPECT_EQ(sum.found[0], -5);
  EXPECT_EQ(sum.found[1], -1);
  EXPECT_EQ(sum.found[2], -2);
  EXPECT_EQ(sum.steps[16], 1);  // the first iteration is stored last
  EXPECT_EQ(sum.steps[8], 2);
  EXPECT_EQ(sum.steps[0], 3);
  EXPECT_EQ(sum.steps[1], 11);
  const HostResult product = run_host_model(session, {1, 1, 1, 1, 1, 1, 1, 1}, false);
  EXPECT_EQ(session.output_shape(0)[0], 8);
  EXPECT_EQ(product.steps[7], 512);
}

TEST(Executor, LoopsEndByConditionAndCountTheirIterations) {
  // carried += step while carried[0] < 10; the number of iterations is an extent.
  SampleModel sample;
  sample.objects = {test_object("vectors")};
  Plan& plan = sample.plan;
  plan.inputs = {{.name = "step", .type = DType::F32, .dims = {{.maximum = 4}}},
                 {.name = "limit", .type = DType::I64, .dims = {}}};
  plan.outputs = {{.name = "last", .type = DType::F32, .dims = {{.maximum = 4}}},
                  {.name = "all", .type = DType::F32, .dims = {{.maximum = 6, .extent = 0}, {4}}}};
  plan.extents = 1;
  plan.arena_bytes = 256;
  plan.buffers = {{Place::Input, 0, 16},  {Place::Input, 1, 8},  {Place::Output, 0, 16},
                  {Place::Output, 1, 96}, {Place::Arena, 0, 16}, {Place::Arena, 64, 1}};
  plan.kernels = {{.symbol = "advance_4",
                   .object = 0,
                   .workspace_bytes = 0,
                   .arguments = {{16, false}, {16, false}, {16, true}, {1, true}}}};
  const Operand flag{5, DType::Bool, {}};
  const Operand limit{1, DType::I64, {}};
  Loop loop{
      .trip_count_buffer = 1, .condition = 5, .iterations_extent = 0, .body = {}, .layer = ""};
  loop.body = {{KernelCall{.kernel = 0, .buffers = {4, 0, 2, 5}, .layer = "advance", .flops = 4}},
               {Copy{.from = 2, .to = 3, .bytes = 16, .to_step = 16}},
               {Copy{.from = 2, .to = 4, .bytes = 16}}};
  plan.body = {{HostCall{"Sub",
                         {},
                         {{0, DType::F32, {{4}}}, {0, DType::F32, {{4}}}},
                         {{4, DType::F32, {{4}}}},
                         "zero"}},
               {HostCall{"Equal", {}, {limit, limit}, {flag}, "true"}},
               {loop}};
  ThreadPool pool({});
  Session session = session_of(sample, pool);
  std::vector<float> last(4), all(24);
  const auto run = [&](std::vector<float> step, std::int64_t most) {
    const std::int64_t four[] = {4};
    const InputView inputs[] = {{step.data(), DType::F32, four}, {&most, DType::I64, {}}};
    const OutputView outputs[] = {{last.data(), 16}, {all.data(), 96}};
    return session.run(inputs, outputs);
  };
  ASSERT_TRUE(run({4, 1, 0, 0}, 100).ok());
  EXPECT_EQ(session.output_shape(1)[0], 3);
  EXPECT_EQ(last[0], 12);
  EXPECT_EQ(all[4], 8);
  ASSERT_TRUE(run({4, 1, 0, 0}, 2).ok());
  EXPECT_EQ(session.output_shape(1)[0], 2);
  ASSERT_TRUE(run({4, 1, 0, 0}, -1).ok());
  EXPECT_EQ(session.output_shape(1)[0], 0);
  EXPECT_EQ(run({1, 1, 0, 0}, 100).error().message,
            "iteration 6 of a loop is beyond what the model was compiled for");
}

// Each iteration adds x to what the one before left; nothing is copied in between.
TEST(Executor, HandsValuesOverFromOneIterationToTheNext) {
  SampleModel sample;
  Plan& plan = sample.plan;
  plan.inputs = {{.name = "x", .type = DType::F32, .dims = {{.maximum = 4}}},
                 {.name = "trips", .type = DType::I64, .dims = {}}};
  plan.outputs = {{.name = "sum", .type = DType::F32, .dims = {{.maximum = 4}}},
                  {.name = "all", .type = DType::F32, .dims = {{3}, {4}}}};
  plan.arena_bytes = 128;
  plan.buffers = {{Place::Input, 0, 16},  {Place::Input, 1, 8},  {Place::Output, 0, 16},
                  {Place::Output, 1, 48}, {Place::Arena, 0, 16}, {Place::Arena, 64, 16}};
  const auto operand = [](BufferId id) { return Operand{id, DType::F32, {{4}}}; };
  Loop loop{.trip_count_buffer = 1, .body = {}, .layer = "", .handovers = {{4, 5}}};
  loop.body = {{HostCall{"Add", {}, {operand(4), operand(0)}, {operand(5)}, "add"}},
               {Copy{.from = 5, .to = 3, .bytes = 16, .to_step = 16}}};
  plan.body = {{HostCall{"Sub", {}, {operand(0), operand(0)}, {operand(4)}, "zero"}},
               {loop},
               {Copy{.from = 4, .to = 2, .bytes = 16}}};
  ThreadPool pool({});
  Session session = session_of(sample, pool);
  std::vector<float> x{1, 2, 3, 4}, sum(4), all(12);
  const auto run = [&](std::int64_t trips) {
    const std::int64_t four[] = {4};
    const InputView inputs[] = {{x.data(), DType::F32, four}, {&trips, DType::I64, {}}};
    const OutputView outputs[] = {{sum.data(), 16}, {all.data(), 48}};
    return session.run(inputs, outputs);
  };
  for (const std::int64_t trips : {3, 2, 1, 0}) {
    ASSERT_TRUE(run(trips).ok());
    EXPECT_EQ(sum[3], static_cast<float>(4 * trips));
  }
  EXPECT_EQ(all[8], 3);
  // One that fails half way leaves the memory in order.
  EXPECT_FALSE(run(4).ok());
  ASSERT_TRUE(run(1).ok());
  EXPECT_EQ(sum[3], 4);
}

TEST(Executor, TakesInputsOfRunTimeExtent) {
  SampleModel sample;
  Plan& plan = sample.plan;
  const std::vector<Dim> dims = {{.maximum = 8, .extent = 0}};
  plan.extents = 1;
  plan.inputs = {{.name = "x", .type = DType::F32, .dims = dims}};
  plan.outputs = {{.name = "y", .type = DType::F32, .dims = dims}};
  plan.buffers = {{Place::Input, 0, 32}, {Place::Output, 0, 32}};
  plan.body = {{HostCall{"Neg", {}, {{0, DType::F32, dims}}, {{1, DType::F32, dims}}, "neg"}}};
  ThreadPool pool({});
  Session session = session_of(sample, pool);
  const std::vector<float> x = {1, 2, 3};
  std::vector<float> y(8, 9.0f);
  const std::int64_t three[] = {3};
  const std::int64_t nine[] = {9};
  const OutputView output{y.data(), 32};
  const InputView input{x.data(), DType::F32, three};
  ASSERT_TRUE(session.run({&input, 1}, {&output, 1}).ok());
  EXPECT_EQ(session.output_shape(0)[0], 3);
  EXPECT_EQ(y[2], -3.0f);
  const InputView long_input{x.data(), DType::F32, nine};
  EXPECT_EQ(session.run({&long_input, 1}, {&output, 1}).error().message,
            "input 'x' has shape 9, the model takes 8");
}

TEST(Executor, ReportsHostOperatorsThatFail) {
  SampleModel sample = host_model();
  std::get<HostCall>(sample.plan.body[1].kind).attributes["axis"] = std::int64_t{3};
  ThreadPool pool({});
  Session session = session_of(sample, pool);
  EXPECT_EQ(run_host_model(session, {1, 0, 0, 0, 0, 0, 0, 0}, true).status.error().message,
            "layer 'gather': Gather: axis 3 is outside of a tensor of 1 dimensions");
}

TEST(Executor, ProfilesByLayer) {
  ThreadPool pool({});
  Session session = session_of(host_model(), pool);
  Profile profile;
  for (int round = 0; round < 2; ++round) {
    ASSERT_TRUE(run_host_model(session, {1, 0, 0, 0, 0, 0, 0, 0}, true, &profile).status.ok());
  }
  ASSERT_EQ(profile.layers().size(), 5u);
  EXPECT_EQ(profile.layers()[1].layer, "gather");
  EXPECT_EQ(profile.layers()[1].what, "Gather");
  EXPECT_EQ(profile.layers()[1].calls, 2);
  EXPECT_EQ(profile.layers()[3].calls, 6);  // inside of the loop
  EXPECT_EQ(profile.layers()[4].calls, 0);  // the other branch
}

}  // namespace
}  // namespace attune::runtime
