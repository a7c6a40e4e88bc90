#include "tests/support/run_on_device.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <memory>
#include <string>

#include "runtime/execution/device.h"
#include "runtime/memory/memory.h"
#include "targets/devices/devices.h"
#include "tests/support/compiled_loops.h"

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

// What an argument holds, where kernels of the device work.
class Block {
 public:
  static Result<Block> make(runtime::Device& device, std::size_t bytes) {
    Block block;
    if (device.space() == Space::Host) {
      ATTUNE_ASSIGN(block.host_, runtime::Memory::allocate(bytes));
    } else {
      ATTUNE_ASSIGN(block.own_, device.allocate(std::max<std::size_t>(1, bytes)));
    }
    return block;
  }

  std::byte* address() const {
    return own_ == nullptr ? static_cast<std::byte*>(host_.data()) : own_->address();
  }
  Status fill(runtime::Stream& stream, ir::Array& array) const {
    return move(stream, {space(), address()}, in_host(array), array.data.size());
  }
  Status read(runtime::Stream& stream, ir::Array& array) const {
    return move(stream, in_host(array), {space(), address()}, array.data.size());
  }

 private:
  Space space() const { return own_ == nullptr ? Space::Host : Space::Device; }
  static Location in_host(ir::Array& array) {
    return {Space::Host, reinterpret_cast<std::byte*>(array.data.data())};
  }
  Status move(runtime::Stream& stream, const Location& to, const Location& from,
              std::size_t bytes) const {
    if (own_ != nullptr) return stream.copy(to, from, bytes);
    if (bytes > 0) std::memcpy(to.address, from.address, bytes);
    return {};
  }

  runtime::Memory host_;
  std::unique_ptr<runtime::DeviceMemory> own_;
};

}  // namespace

Status run_on_device(const ir::Kernel& kernel, const target::Target& target,
                     std::vector<ir::Array>& arguments) {
  ATTUNE_ASSIGN(const codegen::Module compiled, compile_loops(kernel, target));
  const codegen::KernelEntry& entry = compiled.kernels.front();
  ATTUNE_ASSIGN(runtime::Device * device, device_of(target));
  ATTUNE_ASSIGN(const auto code, device->load(compiled.code));
  ATTUNE_ASSIGN(const runtime::KernelHandle handle, code->kernel(entry.symbol));
  ATTUNE_ASSIGN(const runtime::Memory workspace,
                runtime::Memory::allocate(static_cast<std::size_t>(entry.workspace_bytes)));
  runtime::ThreadPool pool({.workers = target.threads});
  ATTUNE_ASSIGN(const auto stream,
                device->open_stream({.pool = &pool, .workspace = workspace.data()}));
  std::vector<Block> blocks;
  std::vector<void*> addresses;
  for (ir::Array& array : arguments) {
    ATTUNE_ASSIGN(Block block, Block::make(*device, array.data.size()));
    ATTUNE_RETURN_IF_ERROR(block.fill(*stream, array));
    addresses.push_back(block.address());
    blocks.push_back(std::move(block));
  }
  ATTUNE_RETURN_IF_ERROR(stream->launch(handle, addresses));
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    ATTUNE_RETURN_IF_ERROR(blocks[i].read(*stream, arguments[i]));
  }
  return stream->wait();
}

}  // namespace attune::test
