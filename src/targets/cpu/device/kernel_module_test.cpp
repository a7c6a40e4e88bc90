#include "targets/cpu/device/kernel_module.h"

#include <gtest/gtest.h>

#include "runtime/memory/tensor.h"
#include "targets/cpu/device/edited_object_testing.h"

namespace attune::cpu {
namespace {

float run_on_ones(const KernelModule& module, const std::string& symbol) {
  auto in = runtime::Tensor::allocate(runtime::DType::F32, {1000});
  auto out = runtime::Tensor::allocate(runtime::DType::F32, {1000});
  for (float& value : in->as<float>()) value = 1.0f;
  runtime::ThreadPool pool({.workers = 2});
  const auto kernel = module.kernel(symbol);
  EXPECT_TRUE(kernel.ok());
  EXPECT_TRUE(run_kernel(*kernel, pool, nullptr, {in->data(), out->data()}).ok());
  EXPECT_EQ(out->as<float>()[0], out->as<float>()[999]);
  return out->as<float>()[999];
}

TEST(KernelModule, RunsKernelsFromBytes) {
  auto module = KernelModule::load(test_object("scale"));
  ASSERT_TRUE(module.ok()) << module.error().message;
  EXPECT_EQ(run_on_ones(*module, "scale"), 2.0f);
}

TEST(KernelModule, ModulesWithTheSameSymbolStayApart) {
  auto twice = KernelModule::load(test_object("scale"));
  auto thrice = KernelModule::load(test_object("triple"));
  EXPECT_EQ(run_on_ones(*twice, "scale"), 2.0f);
  EXPECT_EQ(run_on_ones(*thrice, "scale"), 3.0f);
}

TEST(KernelModule, AModuleReplacesAnUnloadedOne) {
  for (int round = 0; round < 3; ++round) {
    EXPECT_EQ(run_on_ones(*KernelModule::load(test_object("scale")), "scale"), 2.0f);
    EXPECT_EQ(run_on_ones(*KernelModule::load(test_object("triple")), "scale"), 3.0f);
  }
}

TEST(KernelModule, FillsInAddresses) {
  auto module = KernelModule::load(test_object("relocated"));
  ASSERT_TRUE(module.ok()) << module.error().message;
  runtime::ThreadPool pool({});
  EXPECT_EQ(run_kernel(*module->kernel("sum"), pool, nullptr, {}).error().message,
            "kernel returned status 25");
  EXPECT_EQ(run_kernel(*module->kernel("sum"), pool, nullptr, {}).error().message,
            "kernel returned status 26");
}

TEST(KernelModule, AlignsAsAsked) {
  EditedObject object("scale");
  for (Elf64_Phdr& header : object.program_headers()) {
    if (header.p_type == PT_LOAD) header.p_align = 1 << 18;
  }
  auto module = KernelModule::load(object.bytes());
  ASSERT_TRUE(module.ok()) << module.error().message;
  const auto place = reinterpret_cast<std::uintptr_t>(*module->kernel("scale"));
  EXPECT_EQ(place % (1 << 18), object.symbol("scale").st_value);
  EXPECT_EQ(run_on_ones(*module, "scale"), 2.0f);
}

TEST(KernelModule, ReportsTheStatusOfAKernel) {
  auto module = KernelModule::load(test_object("scale"));
  runtime::ThreadPool pool({});
  EXPECT_EQ(run_kernel(*module->kernel("refuse"), pool, nullptr, {}).error().message,
            "kernel returned status 7");
}

TEST(KernelModule, NamesAMissingFunction) {
  auto module = KernelModule::load(test_object("scale"));
  EXPECT_EQ(module->kernel("nothing").error().message, "kernel object has no function 'nothing'");
}

TEST(KernelModule, RefusesDamagedObjects) {
  const std::vector<std::byte> good = test_object("scale");
  const std::span<const std::byte> bytes(good);
  EXPECT_EQ(KernelModule::load({}).error().message,
            "kernel object has 0 bytes, less than an ELF header");
  EXPECT_EQ(KernelModule::load(bytes.subspan(64)).error().message,
            "kernel object is not an ELF file");
  for (std::size_t size : {std::size_t{64}, std::size_t{100}, good.size() / 4}) {
    const auto cut = KernelModule::load(bytes.first(size));
    ASSERT_FALSE(cut.ok()) << size;
    EXPECT_EQ(cut.error().message.substr(0, 25), "kernel object is cut off:") << size;
  }
  std::vector<std::byte> foreign = good;
  foreign[18] = std::byte{8};  // e_machine: MIPS
  foreign[19] = std::byte{0};
  EXPECT_EQ(KernelModule::load(foreign).error().message.substr(0, 50),
            "kernel object is for another architecture (ELF mac");
  std::vector<std::byte> relocatable = good;
  relocatable[16] = std::byte{1};  // e_type: ET_REL
  EXPECT_EQ(KernelModule::load(relocatable).error().message,
            "kernel object is an ELF file but not a shared object");
}

}  // namespace
}  // namespace attune::cpu
