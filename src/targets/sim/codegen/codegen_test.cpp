#include "targets/sim/codegen/codegen.h"

#include <gtest/gtest.h>

#include "compiler/ir/text/parse.h"
#include "compiler/ir/text/print.h"
#include "targets/sim/facts/facts.h"

namespace attune::sim {
namespace {

constexpr const char* kCopy = R"(kernel copy(A: f32[64], B: f32[64]) {
  bound for t in 64 on thread.x {
    B[t] = A[t]
  }
}
)";

target::Target target_with(std::string_view name, std::string_view value) {
  target::Target target;
  target.kind = "sim";
  if (!name.empty()) target.set(name, value);
  return target_kind.resolve(target).value();
}

TEST(SimCodegen, CodeIsTheTextOfKernels) {
  const ir::Kernel kernel = ir::parse_kernel(kCopy).value();
  const auto object = code_generator.compile(kernel, target_with("", ""));
  ASSERT_TRUE(object.ok()) << object.error().message;
  EXPECT_EQ(object->entry.symbol, "copy");
  const std::vector<codegen::KernelObject> two{*object, *object};
  const auto code = code_generator.link(two);
  ASSERT_TRUE(code.ok());
  const std::string text(reinterpret_cast<const char*>(code->data()), code->size());
  EXPECT_EQ(text, std::string(kCopy) + kCopy);
}

TEST(SimCodegen, RefusesWhatDoesNotFit) {
  const ir::Kernel kernel = ir::parse_kernel(kCopy).value();
  EXPECT_EQ(code_generator.compile(kernel, target_with("threads_per_block", "32")).error().message,
            "kernel 'copy' needs 64 threads in a block, the device has 32");
  const ir::Kernel shared =
      ir::parse_kernel("kernel k(B: f32[4]) { parallel for i in 4 { B[i] = 0.0f32 } }").value();
  EXPECT_EQ(code_generator.compile(shared, target_with("", "")).error().message,
            "loop 'i' of kernel 'k' is shared by cores, which the device does not have");
}

TEST(SimFacts, ResolvedTargetsSayAll) {
  EXPECT_EQ(target::to_string(target_with("shared_kb", "16")),
            "sim -shared_kb=16 -multiprocessors=4 -warp=32 -threads_per_block=1024 "
            "-register_bytes=1024 -clock_mhz=1000 -threads=1");
  target::Target wrong;
  wrong.kind = "sim";
  wrong.set("warp", "no");
  EXPECT_EQ(target_kind.resolve(wrong).error().message, "-warp of a simulated device is 'no'");
}

}  // namespace
}  // namespace attune::sim
