#include "targets/sim/device/device.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "compiler/ir/interpret/launches.h"
#include "compiler/ir/parse.h"
#include "targets/sim/device/cycle_meter.h"

namespace attune::sim {
namespace {

constexpr std::int64_t kMemoryBytes = std::int64_t{1} << 32;

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

}  // namespace

Result<Handle> Device::allocate(std::int64_t bytes) {
  if (bytes < 0 || bytes > kMemoryBytes - in_use_) {
    return Error{ErrorCode::Exhausted,
                 fmt::format("the simulated device has no room for {} bytes; {} of {} are in use",
                             bytes, in_use_, kMemoryBytes),
                 "use a smaller model or batch"};
  }
  in_use_ += bytes;
  memory_[next_].resize(static_cast<std::size_t>(bytes));
  return next_++;
}

Status Device::free(Handle memory) {
  ATTUNE_ASSIGN(std::vector<std::byte>* const found, piece(memory, 0, 0));
  in_use_ -= static_cast<std::int64_t>(found->size());
  memory_.erase(memory);
  return {};
}

Result<std::vector<std::byte>*> Device::piece(Handle memory, std::int64_t offset,
                                              std::int64_t bytes) {
  const auto found = memory_.find(memory);
  if (found == memory_.end()) {
    return invalid(fmt::format("the simulated device has no memory {}", memory));
  }
  const auto size = static_cast<std::int64_t>(found->second.size());
  if (offset < 0 || bytes < 0 || offset > size || bytes > size - offset) {
    return invalid(fmt::format("bytes {} to {} of a piece of {} on the simulated device", offset,
                               offset + bytes, size));
  }
  return &found->second;
}

Status Device::write(Handle memory, std::int64_t offset, std::span<const std::byte> bytes) {
  const auto count = static_cast<std::int64_t>(bytes.size());
  ATTUNE_ASSIGN(std::vector<std::byte>* const to, piece(memory, offset, count));
  std::copy(bytes.begin(), bytes.end(), to->begin() + offset);
  cycles_ += transfer_cycles(machine_, count);
  return {};
}

Status Device::read(Handle memory, std::int64_t offset, std::span<std::byte> bytes) {
  const auto count = static_cast<std::int64_t>(bytes.size());
  ATTUNE_ASSIGN(const std::vector<std::byte>* const from, piece(memory, offset, count));
  std::copy_n(from->begin() + offset, count, bytes.begin());
  cycles_ += transfer_cycles(machine_, count);
  return {};
}

Status Device::load(std::string_view code) {
  for (std::string_view text : texts_in(code)) {
    ATTUNE_ASSIGN(ir::Kernel kernel, ir::parse_kernel(text));
    std::string name = kernel.name;
    kernels_.insert_or_assign(std::move(name), std::move(kernel));
  }
  return {};
}

Status Device::launch(const std::string& name, std::span<const Handle> parameters) {
  const auto found = kernels_.find(name);
  if (found == kernels_.end()) {
    return invalid(fmt::format("no kernel '{}' is loaded on the simulated device", name));
  }
  const ir::Kernel& kernel = found->second;
  if (parameters.size() != kernel.params.size()) {
    return invalid(fmt::format("kernel '{}' takes {} buffers, {} were given", name,
                               kernel.params.size(), parameters.size()));
  }
  std::vector<ir::Array> arrays;
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    arrays.emplace_back(kernel.params[i]->type, kernel.params[i]->shape);
    const auto bytes = static_cast<std::int64_t>(arrays.back().data.size());
    ATTUNE_ASSIGN(const std::vector<std::byte>* const from, piece(parameters[i], 0, bytes));
    std::copy_n(from->begin(), bytes, arrays.back().data.begin());
  }
  CycleMeter meter(machine_);
  ir::LaunchOptions options;
  options.limits = {machine_.threads_per_block, machine_.shared_kb << 10, machine_.register_bytes,
                    machine_.stack_bytes};
  options.warp = static_cast<int>(machine_.warp);
  options.meter = &meter;
  ATTUNE_ASSIGN(const std::vector<ir::Finding> findings,
                ir::run_launches(kernel, arrays, -1, options));
  if (!findings.empty()) {
    return invalid(fmt::format("kernel '{}': {}", name, findings[0].text),
                   "this is a mistake of the compiler or of a schedule by hand; please report it");
  }
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    std::copy(arrays[i].data.begin(), arrays[i].data.end(), memory_.at(parameters[i]).begin());
  }
  cycles_ += meter.cycles();
  return {};
}

}  // namespace attune::sim
