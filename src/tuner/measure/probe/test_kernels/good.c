// Kernels that do as they are told, over 1024 floats: buffer 0 and 1 are inputs, 2 is the output.
#include "runtime/execution/kernel_abi.h"

enum { kElements = 1024 };

static void add_piece(void* closure, int64_t begin, int64_t end, int32_t worker) {
  void* const* buffers = closure;
  const float* a = buffers[0];
  const float* b = buffers[1];
  float* out = buffers[2];
  (void)worker;
  for (int64_t i = begin; i < end; ++i) out[i] = a[i] + b[i];
}

int32_t add(const AttuneKernelContext* context, void* const* buffers) {
  context->parallel_for(context->pool, kElements, add_piece, (void*)buffers);
  return 0;
}

// The same, by way of a workspace of 4096 bytes.
int32_t add_in_workspace(const AttuneKernelContext* context, void* const* buffers) {
  float* sum = context->workspace;
  float* out = buffers[2];
  for (int i = 0; i < kElements; ++i) sum[i] = ((float*)buffers[0])[i];
  for (int i = 0; i < kElements; ++i) sum[i] += ((float*)buffers[1])[i];
  for (int i = 0; i < kElements; ++i) out[i] = sum[i];
  return 0;
}

// Far slower than add, with the same result.
int32_t add_slowly(const AttuneKernelContext* context, void* const* buffers) {
  for (volatile int i = 0; i < 100000; ++i) continue;
  return add(context, buffers);
}

// So slow that one call tells it.
int32_t add_for_milliseconds(const AttuneKernelContext* context, void* const* buffers) {
  for (volatile int i = 0; i < 30000000; ++i) continue;
  return add(context, buffers);
}

// Notes in buffer 1 (8 numbers) where the last seven calls found buffer 0. The output starts out as
// -1 in each number.
int32_t note_address(const AttuneKernelContext* context, void* const* buffers) {
  int64_t* log = buffers[1];
  (void)context;
  log[0] = log[0] < 0 ? 0 : log[0] + 1;
  log[1 + log[0] % 7] = (int64_t)buffers[0];
  return 0;
}
