#include "tests/support/run_on_device.h"

#include <map>
#include <memory>
#include <string>

#include "compiler/kernel/kernel.h"
#include "runtime/execution/device.h"
#include "targets/devices/devices.h"

namespace attune::test {
namespace {

using runtime::Location;
using runtime::Space;

// A device is opened once for all kernels of a process.
Result<runtime::Device*> device_of(const target::Target& target) {
  static std::map<std::string, std::unique_ptr<runtime::Device>> opened;
  std::unique_ptr<runtime::Device>& known = opened[target::to_string(target)];
  if (known == nullptr) {
    ATTUNE_ASSIGN(const runtime::DeviceKind* kind,
                  runtime::find_device(targets::devices(), target.kind));
    ATTUNE_ASSIGN(known, kind->open(target::to_string(target)));
  }
  return known.get();
}

}  // namespace

Status run_on_device(const ir::Kernel& kernel, const target::Target& target,
                     std::vector<ir::Array>& arguments) {
  ATTUNE_ASSIGN(const codegen::Module compiled,
                kernel::compile_module(std::span(&kernel, 1), target));
  ATTUNE_ASSIGN(runtime::Device * device, device_of(target));
  ATTUNE_ASSIGN(const auto code, device->load(compiled.code));
  ATTUNE_ASSIGN(const runtime::KernelHandle handle, code->kernel(compiled.kernels.front().symbol));
  ATTUNE_ASSIGN(const auto stream, device->open_stream({}));
  std::vector<std::unique_ptr<runtime::DeviceMemory>> blocks;
  std::vector<void*> addresses;
  for (ir::Array& array : arguments) {
    ATTUNE_ASSIGN(auto block, device->allocate(std::max<std::size_t>(1, array.data.size())));
    auto* bytes = reinterpret_cast<std::byte*>(array.data.data());
    ATTUNE_RETURN_IF_ERROR(
        stream->copy({Space::Device, block->address()}, {Space::Host, bytes}, array.data.size()));
    addresses.push_back(block->address());
    blocks.push_back(std::move(block));
  }
  ATTUNE_RETURN_IF_ERROR(stream->launch(handle, addresses));
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    auto* bytes = reinterpret_cast<std::byte*>(arguments[i].data.data());
    ATTUNE_RETURN_IF_ERROR(stream->copy({Space::Host, bytes}, {Space::Device, blocks[i]->address()},
                                        arguments[i].data.size()));
  }
  return stream->wait();
}

}  // namespace attune::test
