// A fixed set of workers for fork-join loops inside kernels. The thread that calls parallel_for is
// worker 0; the others wait for work by spinning for a bounded time, then sleep in the kernel, so
// that back-to-back loops cost a fraction of a microsecond and an idle pool costs nothing.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "runtime/execution/kernel_abi.h"

namespace attune::runtime {

struct ThreadPoolOptions {
  // How many workers, the caller included; at least 1.
  int workers = 1;
  // Worker i stays on cores[i % size]; the caller is not moved. Empty: no pinning.
  std::vector<int> cores = {};
  // How long a worker without work spins before it sleeps. Pools with more workers than cores never
  // spin, since that would take the core from the worker that has work.
  double spin_us = 100.0;
};

class ThreadPool {
 public:
  explicit ThreadPool(const ThreadPoolOptions& options);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  int workers() const { return workers_; }

  // Calls task(closure, begin, end, worker) on contiguous ranges that cover [0, count), one per
  // worker, and returns when all are done. From inside a task it runs the whole range in the
  // caller; from several threads at once the loops run one after the other.
  void parallel_for(std::int64_t count, AttuneTask task, void* closure);

  // What a kernel is handed. The pool and the workspace must outlive the call.
  AttuneKernelContext context(void* workspace);

 private:
  struct Worker;
  struct Shared;
  void start_workers(const ThreadPoolOptions& options);

  int workers_;
  std::unique_ptr<Shared> shared_;
  std::vector<std::unique_ptr<Worker>> others_;  // worker i + 1 at index i
};

}  // namespace attune::runtime
