#include "targets/cpu/device/device.h"

#include <utility>

#include "base/clock.h"
#include "targets/cpu/device/cpu_features.h"
#include "targets/cpu/device/kernel_module.h"
#include "targets/cpu/device/kernel_object.h"

namespace attune::cpu {
namespace {

class Code final : public runtime::LoadedCode {
 public:
  explicit Code(KernelModule module) : module_(std::move(module)) {}
  Result<runtime::KernelHandle> kernel(const std::string& symbol) const override {
    ATTUNE_ASSIGN(const AttuneKernel function, module_.kernel(symbol));
    return reinterpret_cast<runtime::KernelHandle>(function);
  }

 private:
  KernelModule module_;
};

class Stream final : public runtime::Stream {
 public:
  explicit Stream(const runtime::StreamOptions& options)
      : context_(options.pool->context(options.workspace)) {}

  Status launch(runtime::KernelHandle kernel, std::span<void* const> arguments) override {
    const auto function = reinterpret_cast<AttuneKernel>(const_cast<void*>(kernel));
    const std::int32_t status = function(&context_, arguments.data());
    if (status == 0) return {};
    return Error{ErrorCode::Io, "kernel returned status " + std::to_string(status), ""};
  }
  Status copy(const runtime::Location&, const runtime::Location&, std::size_t) override {
    CHECK(false, "a processor has no memory of its own");
  }
  Status wait() override { return {}; }
  std::int64_t now_ns() const override { return SteadyClock().now_ns(); }

 private:
  AttuneKernelContext context_;
};

class Device final : public runtime::Device {
 public:
  runtime::Space space() const override { return runtime::Space::Host; }
  Result<std::unique_ptr<runtime::DeviceMemory>> allocate(std::size_t) override {
    CHECK(false, "a processor has no memory of its own");
  }
  Result<std::unique_ptr<runtime::LoadedCode>> load(std::span<const std::byte> object) override {
    ATTUNE_ASSIGN(KernelModule module, KernelModule::load(object));
    return std::unique_ptr<runtime::LoadedCode>(new Code(std::move(module)));
  }
  Result<std::unique_ptr<runtime::Stream>> open_stream(
      const runtime::StreamOptions& options) override {
    CHECK(options.pool != nullptr, "kernels of a processor run on a pool");
    return std::unique_ptr<runtime::Stream>(new Stream(options));
  }
};

Status check(const runtime::Plan& plan, std::span<const std::span<const std::byte>> objects) {
  ATTUNE_RETURN_IF_ERROR(check_cpu(plan.architecture, plan.features));
  for (const std::span<const std::byte> object : objects) {
    if (const auto read = read_kernel_object(object); !read.ok()) return read.error();
  }
  return {};
}

Result<std::unique_ptr<runtime::Device>> open(std::string_view) {
  return std::unique_ptr<runtime::Device>(new Device());
}

}  // namespace

const runtime::DeviceKind device_kind = {.name = "cpu", .check = check, .open = open};

}  // namespace attune::cpu
