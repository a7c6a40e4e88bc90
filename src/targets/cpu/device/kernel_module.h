// A kernel object laid out in memory of its own, by a loader of ours: no dynamic linker, no file,
// and nothing of it runs until a kernel is called. The memory goes when the module goes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "runtime/execution/kernel_abi.h"
#include "runtime/execution/thread_pool.h"
#include "targets/cpu/device/kernel_object.h"

namespace attune::cpu {

class KernelModule {
 public:
  // Refuses what read_kernel_object() refuses. The bytes are not needed afterwards.
  static Result<KernelModule> load(std::span<const std::byte> bytes);

  KernelModule(KernelModule&& other) noexcept;
  KernelModule& operator=(KernelModule&& other) noexcept;
  KernelModule(const KernelModule&) = delete;
  KernelModule& operator=(const KernelModule&) = delete;
  ~KernelModule();

  // The exported function of that name; valid while the module lives.
  Result<AttuneKernel> kernel(const std::string& symbol) const;

 private:
  KernelModule() = default;
  Status map(const KernelObject& object);
  void take_pages(std::uint64_t address, std::uint64_t bytes) const;
  Status protect(const KernelObject& object);
  std::byte* at(std::uint64_t address) const { return start_ + address; }

  std::byte* start_ = nullptr;  // of the object's address space
  std::size_t bytes_ = 0;
  std::vector<KernelSymbol> kernels_ = {};
};

// Runs a kernel on the pool. A non-zero return of the kernel is an error that names the number.
Status run_kernel(AttuneKernel kernel, runtime::ThreadPool& pool, void* workspace,
                  const std::vector<void*>& buffers);

}  // namespace attune::cpu
