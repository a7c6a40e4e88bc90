// The C ABI between generated kernels and the runtime. A kernel is one exported function of an ELF
// shared object; it sees the world only through the context and the buffers it is handed, so the
// same kernel runs in the executor, in the measuring child and in a test.
#pragma once

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// One contiguous piece [begin, end) of a parallel loop, run by the given worker.
typedef void (*AttuneTask)(void* closure, int64_t begin, int64_t end, int32_t worker);

typedef struct AttuneKernelContext {
  // Opaque; handed back to parallel_for.
  void* pool;
  // Calls `task` on disjoint contiguous ranges that cover [0, count), each with a worker in
  // [0, workers); empty ranges are not called. Returns when all of them are done, and what the
  // tasks wrote is then visible to the caller. Called from inside a task, it runs the whole range
  // serially in the caller, with the caller's worker number.
  void (*parallel_for)(void* pool, int64_t count, AttuneTask task, void* closure);
  // Scratch memory, aligned to 64 bytes and at least as large as the kernel declares; its contents
  // on entry are undefined. May be null when the kernel declares 0 bytes.
  void* workspace;
  // How many workers parallel_for may use, at least 1.
  int32_t workers;
} AttuneKernelContext;

// `buffers` are the kernel's arguments in its declared order (inputs, then outputs), each aligned
// to 64 bytes. Returns 0 when the outputs are complete.
typedef int32_t (*AttuneKernel)(const AttuneKernelContext* context, void* const* buffers);

#ifdef __cplusplus
}
#endif
