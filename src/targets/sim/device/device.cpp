#include "targets/sim/device/device.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <mutex>
#include <vector>

#include "compiler/ir/interpret/launches.h"
#include "compiler/ir/text/parse.h"
#include "runtime/memory/memory.h"
#include "targets/sim/device/cycle_meter.h"

namespace attune::sim {
namespace {

using runtime::Location;
using runtime::Space;

constexpr std::size_t kMemoryBytes = std::size_t{1} << 32;

// The texts of kernels, each up to the closing brace in the first column.
std::vector<std::string_view> texts_in(std::string_view code) {
  std::vector<std::string_view> texts;
  while (!code.empty()) {
    const auto end = code.find("\n}\n");
    const auto length = end == std::string_view::npos ? code.size() : end + 3;
    texts.push_back(code.substr(0, length));
    code.remove_prefix(length);
  }
  return texts;
}

// Who owns which addresses. Shared with the blocks, which may outlive the device.
class Blocks {
 public:
  Result<runtime::Memory> allocate(std::size_t bytes) {
    const std::lock_guard lock(mutex_);
    if (bytes > kMemoryBytes - in_use_) {
      return Error{ErrorCode::Exhausted,
                   fmt::format("the simulated device has no room for {} bytes; {} of {} are in use",
                               bytes, in_use_, kMemoryBytes),
                   "use a smaller model or batch"};
    }
    ATTUNE_ASSIGN(runtime::Memory memory, runtime::Memory::allocate(std::max(bytes, kLeast)));
    in_use_ += bytes;
    blocks_.emplace(static_cast<const std::byte*>(memory.data()), bytes);
    return memory;
  }

  void release(const runtime::Memory& memory) {
    const std::lock_guard lock(mutex_);
    const auto found = blocks_.find(static_cast<const std::byte*>(memory.data()));
    in_use_ -= found->second;
    blocks_.erase(found);
  }

  // Whether all of it lies in one block.
  Status check(const void* address, std::size_t bytes) const {
    const std::lock_guard lock(mutex_);
    const auto* at = static_cast<const std::byte*>(address);
    auto next = blocks_.upper_bound(at);
    if (next != blocks_.begin()) {
      const auto& [start, size] = *--next;
      const auto offset = static_cast<std::size_t>(at - start);
      if (offset <= size && bytes <= size - offset) return {};
    }
    return invalid(fmt::format("{} bytes do not lie in the memory of the simulated device", bytes));
  }

 private:
  static constexpr std::size_t kLeast = 64;  // so that every block has an address of its own
  mutable std::mutex mutex_;
  std::map<const std::byte*, std::size_t> blocks_;
  std::size_t in_use_ = 0;
};

class Block final : public runtime::DeviceMemory {
 public:
  Block(std::shared_ptr<Blocks> blocks, runtime::Memory memory)
      : blocks_(std::move(blocks)), memory_(std::move(memory)) {}
  ~Block() override { blocks_->release(memory_); }
  std::byte* address() const override { return static_cast<std::byte*>(memory_.data()); }

 private:
  std::shared_ptr<Blocks> blocks_;
  runtime::Memory memory_;
};

class Code final : public runtime::LoadedCode {
 public:
  Status parse(std::span<const std::byte> object) {
    for (const std::string_view text :
         texts_in({reinterpret_cast<const char*>(object.data()), object.size()})) {
      ATTUNE_ASSIGN(ir::Kernel kernel, ir::parse_kernel(text));
      std::string name = kernel.name;
      kernels_.insert_or_assign(std::move(name), std::move(kernel));
    }
    return {};
  }
  Result<runtime::KernelHandle> kernel(const std::string& symbol) const override {
    const auto found = kernels_.find(symbol);
    if (found != kernels_.end()) return static_cast<runtime::KernelHandle>(&found->second);
    return Error{ErrorCode::NotFound,
                 fmt::format("the code for the simulated device has no kernel '{}'", symbol),
                 "compile the model again"};
  }

 private:
  std::map<std::string, ir::Kernel> kernels_;
};

class Stream final : public runtime::Stream {
 public:
  Stream(const Machine& machine, std::shared_ptr<Blocks> blocks, std::int64_t most_steps)
      : machine_(machine), blocks_(std::move(blocks)), most_steps_(most_steps) {}

  Status launch(runtime::KernelHandle handle, std::span<void* const> arguments) override {
    const auto& kernel = *static_cast<const ir::Kernel*>(handle);
    if (arguments.size() != kernel.params.size()) {
      return invalid(fmt::format("kernel '{}' takes {} buffers, {} were given", kernel.name,
                                 kernel.params.size(), arguments.size()));
    }
    std::vector<ir::Array> arrays;
    for (std::size_t i = 0; i < arguments.size(); ++i) {
      arrays.emplace_back(kernel.params[i]->type, kernel.params[i]->shape);
      ir::Array& array = arrays.back();
      ATTUNE_RETURN_IF_ERROR(blocks_->check(arguments[i], array.data.size()));
      std::memcpy(array.data.data(), arguments[i], array.data.size());
    }
    ATTUNE_RETURN_IF_ERROR(run(kernel, arrays));
    for (std::size_t i = 0; i < arguments.size(); ++i) {
      std::memcpy(arguments[i], arrays[i].data.data(), arrays[i].data.size());
    }
    return {};
  }

  Status copy(const Location& to, const Location& from, std::size_t bytes) override {
    for (const Location& side : {to, from}) {
      if (side.space != Space::Device) continue;
      ATTUNE_RETURN_IF_ERROR(blocks_->check(side.address, bytes));
    }
    std::memmove(to.address, from.address, bytes);
    cycles_ += transfer_cycles(machine_, static_cast<std::int64_t>(bytes));
    return {};
  }

  Status wait() override { return {}; }
  std::int64_t now_ns() const override { return cycles_ * 1000 / machine_.clock_mhz; }

 private:
  Status run(const ir::Kernel& kernel, std::vector<ir::Array>& arrays) {
    CycleMeter meter(machine_);
    ir::LaunchOptions options;
    options.limits = {machine_.threads_per_block, machine_.shared_kb << 10, machine_.register_bytes,
                      machine_.stack_bytes};
    options.warp = static_cast<int>(machine_.warp);
    options.meter = &meter;
    options.most_steps = most_steps_;
    ATTUNE_ASSIGN(const std::vector<ir::Finding> findings,
                  ir::run_launches(kernel, arrays, -1, options));
    cycles_ += meter.cycles();
    if (findings.empty()) return {};
    return invalid(fmt::format("kernel '{}': {}", kernel.name, findings[0].text),
                   "this is a mistake of the compiler or of a schedule by hand; please report it");
  }

  const Machine machine_;
  std::shared_ptr<Blocks> blocks_;
  const std::int64_t most_steps_;
  std::int64_t cycles_ = 0;
};

class Device final : public runtime::Device {
 public:
  Device(const Machine& machine, std::int64_t most_steps)
      : machine_(machine), most_steps_(most_steps) {}

  Space space() const override { return Space::Device; }
  Result<std::unique_ptr<runtime::DeviceMemory>> allocate(std::size_t bytes) override {
    ATTUNE_ASSIGN(runtime::Memory memory, blocks_->allocate(bytes));
    return std::unique_ptr<runtime::DeviceMemory>(new Block(blocks_, std::move(memory)));
  }
  Result<std::unique_ptr<runtime::LoadedCode>> load(std::span<const std::byte> object) override {
    auto code = std::make_unique<Code>();
    ATTUNE_RETURN_IF_ERROR(code->parse(object));
    return std::unique_ptr<runtime::LoadedCode>(std::move(code));
  }
  Result<std::unique_ptr<runtime::Stream>> open_stream(const runtime::StreamOptions&) override {
    return std::unique_ptr<runtime::Stream>(new Stream(machine_, blocks_, most_steps_));
  }

 private:
  const Machine machine_;
  const std::int64_t most_steps_;
  const std::shared_ptr<Blocks> blocks_ = std::make_shared<Blocks>();
};

// That the code is text of kernels; what these do is judged when they run.
Status check(const runtime::Plan&, std::span<const std::span<const std::byte>> objects) {
  Code code;
  for (const auto& object : objects) ATTUNE_RETURN_IF_ERROR(code.parse(object));
  return {};
}

// "sim -multiprocessors=4 … -threads=1".
Result<std::unique_ptr<runtime::Device>> open(std::string_view target) {
  std::string attributes;
  while (!target.empty()) {
    const auto space = target.find(' ');
    const std::string_view word = target.substr(0, space);
    target = space == std::string_view::npos ? std::string_view() : target.substr(space + 1);
    const bool is_own = word.starts_with('-') && !word.starts_with("-threads=");
    if (is_own) attributes += std::string(word) + " ";
  }
  ATTUNE_ASSIGN(const Machine machine, parse_machine(attributes));
  return open_device(machine);
}

}  // namespace

const runtime::DeviceKind device_kind = {.name = "sim", .check = check, .open = open};

std::unique_ptr<runtime::Device> open_device(const Machine& machine, std::int64_t most_steps) {
  return std::make_unique<Device>(machine, most_steps);
}

}  // namespace attune::sim
