#include "targets/cpu/device/kernel_module.h"

#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

namespace attune::cpu {
namespace {

std::uint64_t round_down(std::uint64_t value, std::uint64_t unit) { return value & ~(unit - 1); }
std::uint64_t round_up(std::uint64_t value, std::uint64_t unit) {
  return round_down(value + unit - 1, unit);
}

int protection_of(Access access) {
  switch (access) {
    case Access::Read:
      return PROT_READ;
    case Access::ReadWrite:
      return PROT_READ | PROT_WRITE;
    case Access::ReadExecute:
      return PROT_READ | PROT_EXEC;
  }
  return PROT_NONE;
}

Error cannot_protect() {
  return {ErrorCode::Unsupported,
          std::string("the system does not let the memory of a kernel become executable: ") +
              std::strerror(errno),
          "allow the process to make memory executable (SELinux execmem, MemoryDenyWriteExecute)"};
}

}  // namespace

Result<KernelModule> KernelModule::load(std::span<const std::byte> bytes) {
  ATTUNE_ASSIGN(KernelObject object, read_kernel_object(bytes));
  KernelModule module;
  ATTUNE_RETURN_IF_ERROR(module.map(object));
  for (const Segment& segment : object.segments) {
    if (segment.contents.empty()) continue;
    module.take_pages(segment.address, segment.contents.size());
    std::memcpy(module.at(segment.address), segment.contents.data(), segment.contents.size());
  }
  for (const Relocation& relocation : object.relocations) {
    const auto value = reinterpret_cast<std::uint64_t>(module.at(relocation.target));
    std::memcpy(module.at(relocation.at), &value, sizeof value);
  }
  ATTUNE_RETURN_IF_ERROR(module.protect(object));
  module.kernels_ = std::move(object.kernels);
  return module;
}

// Zeroed memory for all of the address space, at a place that its alignment allows.
Status KernelModule::map(const KernelObject& object) {
  const std::uint64_t alignment = std::max(object.alignment, page_bytes());
  const std::uint64_t slack = alignment - page_bytes();
  const std::uint64_t bytes = round_up(object.end(), page_bytes()) + slack;
  void* mapping =
      ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapping == MAP_FAILED) {
    return Error{ErrorCode::Exhausted,
                 "cannot hold a kernel object of " + std::to_string(bytes) +
                     " bytes in memory: " + std::strerror(errno),
                 "free memory on this machine"};
  }
  auto* place = static_cast<std::byte*>(mapping);
  const auto number = reinterpret_cast<std::uintptr_t>(mapping);
  const std::uint64_t before = round_up(number, alignment) - number;
  if (before > 0) ::munmap(place, before);
  start_ = place + before;
  bytes_ = bytes - slack;
  if (slack > before) ::munmap(start_ + bytes_, slack - before);
  return {};
}

// All at once, which takes a fraction of the time of one by one as they are written. Only a wish:
// older systems do not know it.
void KernelModule::take_pages(std::uint64_t address, std::uint64_t bytes) const {
  constexpr int kPopulateWrite = 23;  // MADV_POPULATE_WRITE, Linux 5.14
  const std::uint64_t begin = round_down(address, page_bytes());
  ::madvise(at(begin), round_up(address + bytes, page_bytes()) - begin, kPopulateWrite);
}

// Each segment gets its rights, and what lies between them none. Written pages are never executed,
// executed ones no longer written.
Status KernelModule::protect(const KernelObject& object) {
  std::uint64_t done = 0;
  const auto set = [&](std::uint64_t end, int protection) {
    if (end == done) return true;
    const std::uint64_t begin = std::exchange(done, end);
    return ::mprotect(at(begin), end - begin, protection) == 0;
  };
  for (const Segment& segment : object.segments) {
    const std::uint64_t end = round_up(segment.end(), page_bytes());
    if (segment.access == Access::ReadExecute) {
      auto* code = reinterpret_cast<char*>(at(segment.address));
      __builtin___clear_cache(code, code + segment.bytes);  // does nothing on x86
    }
    if (!set(round_down(segment.address, page_bytes()), PROT_NONE)) return cannot_protect();
    if (!set(end, protection_of(segment.access))) return cannot_protect();
  }
  const std::uint64_t sealed = round_down(object.sealed_address, page_bytes());
  const std::uint64_t sealed_end =
      round_down(object.sealed_address + object.sealed_bytes, page_bytes());
  if (sealed_end > sealed && ::mprotect(at(sealed), sealed_end - sealed, PROT_READ) != 0) {
    return cannot_protect();
  }
  return {};
}

KernelModule::KernelModule(KernelModule&& other) noexcept
    : start_(std::exchange(other.start_, nullptr)),
      bytes_(std::exchange(other.bytes_, 0)),
      kernels_(std::move(other.kernels_)) {}

KernelModule& KernelModule::operator=(KernelModule&& other) noexcept {
  std::swap(start_, other.start_);
  std::swap(bytes_, other.bytes_);
  std::swap(kernels_, other.kernels_);
  return *this;
}

KernelModule::~KernelModule() {
  if (start_ != nullptr) ::munmap(start_, bytes_);
}

Result<AttuneKernel> KernelModule::kernel(const std::string& symbol) const {
  const auto found = std::lower_bound(
      kernels_.begin(), kernels_.end(), symbol,
      [](const KernelSymbol& kernel, const std::string& name) { return kernel.name < name; });
  if (found == kernels_.end() || found->name != symbol) {
    return Error{ErrorCode::NotFound, "kernel object has no function '" + symbol + "'",
                 "check the kernel's name"};
  }
  return reinterpret_cast<AttuneKernel>(at(found->address));
}

Status run_kernel(AttuneKernel kernel, runtime::ThreadPool& pool, void* workspace,
                  const std::vector<void*>& buffers) {
  const AttuneKernelContext context = pool.context(workspace);
  const std::int32_t status = kernel(&context, buffers.data());
  if (status != 0) {
    return Error{ErrorCode::Io, "kernel returned status " + std::to_string(status), ""};
  }
  return {};
}

}  // namespace attune::cpu
