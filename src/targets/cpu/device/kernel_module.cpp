#include "targets/cpu/device/kernel_module.h"

#include <dlfcn.h>
#include <elf.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace attune::cpu {
namespace {

#if defined(__x86_64__)
constexpr Elf64_Half kMachine = EM_X86_64;
#elif defined(__aarch64__)
constexpr Elf64_Half kMachine = EM_AARCH64;
#elif defined(__riscv)
constexpr Elf64_Half kMachine = EM_RISCV;
#endif

Error corrupt(std::string message) {
  return {ErrorCode::Corrupt, std::move(message), "build the kernel again"};
}

Status write_all(int descriptor, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t written = write(descriptor, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) {
      return Error{ErrorCode::Exhausted,
                   "cannot hold a kernel object of " + std::to_string(bytes.size()) +
                       " bytes in memory: " + std::strerror(errno),
                   "free memory on this machine"};
    }
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
  return {};
}

}  // namespace

Status check_shared_object(std::span<const std::byte> bytes) {
  if (bytes.size() < sizeof(Elf64_Ehdr)) {
    return corrupt("kernel object has " + std::to_string(bytes.size()) +
                   " bytes, less than an ELF header");
  }
  Elf64_Ehdr header;
  std::memcpy(&header, bytes.data(), sizeof header);
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0) {
    return corrupt("kernel object is not an ELF file");
  }
  if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_ident[EI_DATA] != ELFDATA2LSB ||
      header.e_machine != kMachine) {
    return corrupt("kernel object is for another architecture (ELF machine " +
                   std::to_string(header.e_machine) + ", this one is " + std::to_string(kMachine) +
                   ")");
  }
  if (header.e_type != ET_DYN || header.e_phentsize != sizeof(Elf64_Phdr)) {
    return corrupt("kernel object is an ELF file but not a shared object");
  }
  const std::uint64_t size = bytes.size();
  const std::uint64_t table = header.e_phoff;
  if (table > size || header.e_phnum * sizeof(Elf64_Phdr) > size - table) {
    return corrupt("kernel object is cut off: its program headers lie beyond its " +
                   std::to_string(size) + " bytes");
  }
  for (std::size_t i = 0; i < header.e_phnum; ++i) {
    Elf64_Phdr segment;
    std::memcpy(&segment, bytes.data() + table + i * sizeof segment, sizeof segment);
    if (segment.p_type != PT_LOAD) continue;
    if (segment.p_offset > size || segment.p_filesz > size - segment.p_offset) {
      return corrupt("kernel object is cut off: segment " + std::to_string(i) + " ends at byte " +
                     std::to_string(segment.p_offset + segment.p_filesz) + " of " +
                     std::to_string(size));
    }
  }
  return {};
}

Result<KernelModule> KernelModule::load(std::span<const std::byte> bytes) {
  ATTUNE_RETURN_IF_ERROR(check_shared_object(bytes));
  KernelModule module;
  module.descriptor_ = memfd_create("attune-kernel", MFD_CLOEXEC);
  if (module.descriptor_ < 0) {
    return Error{ErrorCode::Io, std::string("cannot create a memory file: ") + std::strerror(errno),
                 "raise the limit of open files (ulimit -n)"};
  }
  ATTUNE_RETURN_IF_ERROR(write_all(module.descriptor_, bytes));
  const std::string path = "/proc/self/fd/" + std::to_string(module.descriptor_);
  module.handle_ = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (module.handle_ == nullptr) {
    const char* reason = dlerror();
    return corrupt(std::string("cannot load the kernel object: ") +
                   (reason != nullptr ? reason : "unknown reason"));
  }
  return module;
}

KernelModule::KernelModule(KernelModule&& other) noexcept
    : handle_(std::exchange(other.handle_, nullptr)),
      descriptor_(std::exchange(other.descriptor_, -1)) {}

KernelModule& KernelModule::operator=(KernelModule&& other) noexcept {
  std::swap(handle_, other.handle_);
  std::swap(descriptor_, other.descriptor_);
  return *this;
}

KernelModule::~KernelModule() {
  if (handle_ != nullptr) dlclose(handle_);
  if (descriptor_ >= 0) close(descriptor_);
}

Result<AttuneKernel> KernelModule::kernel(const std::string& symbol) const {
  void* address = dlsym(handle_, symbol.c_str());
  if (address == nullptr) {
    return Error{ErrorCode::NotFound, "kernel object has no function '" + symbol + "'",
                 "check the kernel's name"};
  }
  return reinterpret_cast<AttuneKernel>(address);
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
