// A shared object of kernels, loaded from bytes in memory: nothing is written to a file system, and
// the code is unmapped again when the module goes.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "runtime/execution/kernel_abi.h"
#include "runtime/execution/thread_pool.h"

namespace attune::cpu {

// Why these bytes cannot be a shared object for this machine, before any of it is mapped: not ELF,
// another architecture, not a shared object, shorter than its own headers say.
Status check_shared_object(std::span<const std::byte> bytes);

class KernelModule {
 public:
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
  void* handle_ = nullptr;
  // Kept open while loaded: the loader tells modules apart by path, and the path holds this number.
  int descriptor_ = -1;
};

// Runs a kernel on the pool. A non-zero return of the kernel is an error that names the number.
Status run_kernel(AttuneKernel kernel, runtime::ThreadPool& pool, void* workspace,
                  const std::vector<void*>& buffers);

}  // namespace attune::cpu
