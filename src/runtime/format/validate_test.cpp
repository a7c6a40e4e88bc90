#include <gtest/gtest.h>

#include <functional>

#include "runtime/format/plan.h"
#include "runtime/format/sample_model_testing.h"

namespace attune::runtime {
namespace {

constexpr SectionSizes kSizes{.weight_bytes = 4032, .objects = 2};

// Why a plan is refused after a change, without the words in front.
std::string refusal(Plan plan, const std::function<void(Plan&)>& change) {
  EXPECT_TRUE(validate(plan, kSizes).ok());
  change(plan);
  const Status status = validate(plan, kSizes);
  EXPECT_FALSE(status.ok());
  const std::string front = "the plan is invalid: ";
  const std::string message = status.ok() ? "" : status.error().message;
  return message.starts_with(front) ? message.substr(front.size()) : message;
}

std::string refusal(const std::function<void(Plan&)>& change) {
  return refusal(sum_model().plan, change);
}

template <typename T>
T& part(Plan& plan, std::size_t index) {
  return std::get<T>(plan.body[index].kind);
}

TEST(Validate, ChecksBuffers) {
  EXPECT_EQ(refusal([](Plan& p) { p.buffers[2].position = 128; }),
            "buffer 2 of 4000 bytes at 128 does not fit the 4096 bytes of memory");
  EXPECT_EQ(refusal([](Plan& p) { p.buffers[2].position = 32; }),
            "buffer 2 at 32 is not aligned to 64 bytes");
  EXPECT_EQ(refusal([](Plan& p) { p.buffers[2].position = -64; }),
            "buffer 2 of 4000 bytes at -64 does not fit the 4096 bytes of memory");
  EXPECT_EQ(refusal([](Plan& p) { p.buffers[2].bytes = INT64_MAX; }).substr(0, 10), "buffer 2 o");
  EXPECT_EQ(refusal([](Plan& p) { p.buffers[1].position = 64; }),
            "buffer 1 of 4000 bytes at 64 does not fit the 4032 bytes of weights");
  EXPECT_EQ(refusal([](Plan& p) { p.buffers[0].position = 1; }), "buffer 0 names tensor 1 of 1");
  EXPECT_EQ(refusal([](Plan& p) { p.buffers[0].bytes = 4001; }), "buffer 0 is larger than 'x'");
  EXPECT_EQ(refusal([](Plan& p) { p.buffers[3].position = -1; }), "buffer 3 names tensor -1 of 1");
}

TEST(Validate, ChecksTensorsAndTotals) {
  EXPECT_EQ(refusal([](Plan& p) { p.arena_bytes = -1; }),
            "it asks for -1 bytes of memory and 0 of workspace");
  EXPECT_EQ(refusal([](Plan& p) { p.threads = 0; }), "it is made for 0 threads");
  EXPECT_EQ(refusal([](Plan& p) { p.extents = -1; }), "it has -1 run-time extents");
  EXPECT_EQ(refusal([](Plan& p) { p.target = "cuda -arch=sm_80"; }),
            "its target is 'cuda', its device 'cpu'");
  EXPECT_EQ(refusal([](Plan& p) { p.device = "sim"; }), "its target is 'cpu', its device 'sim'");
  EXPECT_EQ(refusal([](Plan& p) { p.target = " cpu"; }), "its target is '', its device 'cpu'");
  EXPECT_EQ(refusal([](Plan& p) { p.inputs[0].dims[0].extent = 0; }),
            "tensor 'x' has a dimension of 1000 with run-time extent 0");
  EXPECT_EQ(refusal([](Plan& p) { p.outputs[0].dims.resize(17, {1}); }),
            "tensor 'y' has 17 dimensions");
  EXPECT_EQ(refusal([](Plan& p) {
              p.inputs[0].dims = {{INT64_MAX}, {INT64_MAX}};
            }),
            "tensor 'x' is too large");
}

TEST(Validate, ChecksKernels) {
  EXPECT_EQ(refusal([](Plan& p) { p.kernels[0].object = 2; }),
            "kernel 'add_1000' is in object 2 of 2");
  EXPECT_EQ(refusal([](Plan& p) { p.kernels[0].workspace_bytes = 1; }),
            "kernel 'add_1000' asks for 1 bytes of workspace");
  EXPECT_EQ(refusal([](Plan& p) { p.kernels[0].arguments[0].bytes = 4001; }),
            "kernel 'add_1000' needs 4001 bytes of buffer 0, which has 4000");
  EXPECT_EQ(refusal([](Plan& p) { p.kernels[0].arguments[1].written = true; }),
            "kernel 'add_1000' writes buffer 1, which is read only");
  EXPECT_EQ(refusal([](Plan& p) { part<KernelCall>(p, 0).kernel = 2; }),
            "a call names kernel 2 of 2");
  EXPECT_EQ(refusal([](Plan& p) { part<KernelCall>(p, 0).buffers.pop_back(); }),
            "kernel 'add_1000' is called with 2 buffers and takes 3");
  EXPECT_EQ(refusal([](Plan& p) { part<KernelCall>(p, 0).buffers[0] = 4; }),
            "kernel 'add_1000' uses buffer 4 of 4");
  EXPECT_EQ(refusal([](Plan& p) { part<KernelCall>(p, 0).buffers[0] = -1; }),
            "kernel 'add_1000' uses buffer -1 of 4");
}

TEST(Validate, ChecksHostCallsCopiesAndLoops) {
  const Plan plan = host_model().plan;
  EXPECT_EQ(refusal(plan, [](Plan& p) { part<HostCall>(p, 0).op = "Magic"; }),
            "this runtime has no host operator 'Magic'");
  EXPECT_EQ(refusal(plan, [](Plan& p) { part<HostCall>(p, 0).inputs.resize(4097); }),
            "host operator 'NonZero' has 4097 operands, more than 4096");
  EXPECT_EQ(refusal(plan, [](Plan& p) { part<HostCall>(p, 0).outputs.resize(4097); }),
            "host operator 'NonZero' has 4097 operands, more than 4096");
  EXPECT_EQ(refusal(plan, [](Plan& p) { part<HostCall>(p, 0).outputs[0].dims[0].maximum = 9; }),
            "host operator 'NonZero' needs 576 bytes of buffer 5, which has 64");
  EXPECT_EQ(refusal(plan, [](Plan& p) { part<HostCall>(p, 0).outputs[0].buffer = 4; }),
            "host operator 'NonZero' needs 64 bytes of buffer 4, which has 32");
  EXPECT_EQ(refusal(plan, [](Plan& p) { part<HostCall>(p, 1).outputs[0].buffer = 4; }),
            "host operator 'Gather' writes buffer 4, which is read only");
  EXPECT_EQ(refusal(plan, [](Plan& p) { p.buffers[10].position = 0; }),
            "output 0 of host operator 'Gather' overlaps another operand");
  EXPECT_EQ(refusal(plan, [](Plan& p) { part<Copy>(p, 3).bytes = 33; }),
            "a copy needs 33 bytes of buffer 0, which has 32");
  EXPECT_EQ(refusal(plan, [](Plan& p) { part<Copy>(p, 3).from_offset = -4; }),
            "a copy of 32 bytes leaves its buffers");
  EXPECT_EQ(refusal(plan, [](Plan& p) { part<Loop>(p, 4).trip_count = 4; }),
            "a copy of 32 bytes leaves its buffers");
  EXPECT_EQ(refusal(plan, [](Plan& p) { part<Loop>(p, 4).trip_count = -1; }), "a loop has no end");
  EXPECT_EQ(refusal(plan, [](Plan& p) { part<Loop>(p, 4).iteration = 1; }),
            "a loop needs 8 bytes of buffer 1, which has 1");
  EXPECT_EQ(refusal(plan, [](Plan& p) { part<Loop>(p, 4).iterations_extent = 1; }),
            "a loop sets run-time extent 1");
  const auto handed = [&](std::vector<Handover> handovers) {
    return refusal(plan, [&](Plan& p) { part<Loop>(p, 4).handovers = handovers; });
  };
  EXPECT_EQ(handed({{6, 4}}), "a loop writes buffer 4, which is read only");
  EXPECT_EQ(handed({{6, 8}}),
            "a loop hands over buffer 6 to buffer 8, which is no memory of the same size");
  EXPECT_EQ(handed({{6, 2}}),
            "a loop hands over buffer 6 to buffer 2, which is no memory of the same size");
  EXPECT_EQ(handed({{6, 7}, {10, 7}}), "a loop hands over buffer 7, which overlaps another");
  EXPECT_EQ(handed({{6, 99}}), "a loop uses buffer 99 of 12");
  EXPECT_EQ(handed(std::vector<Handover>(4097, {6, 7})),
            "a loop hands over 4097 buffers, more than 4096");
  EXPECT_EQ(refusal(plan, [](Plan& p) { part<Copy>(p, 3).to = 11; }),
            "a copy needs 32 bytes of buffer 11, which has 8");
  EXPECT_EQ(
      refusal(plan,
              [](Plan& p) {
                for (int i = 0; i < 40; ++i) {
                  Block inner = std::move(p.body);
                  p.body = {{If{.condition = 1, .then_block = std::move(inner), .else_block = {}}}};
                }
              }),
      "its blocks are nested too deeply");
}

}  // namespace
}  // namespace attune::runtime
