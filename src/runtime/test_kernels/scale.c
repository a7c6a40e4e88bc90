// out[i] = 2 * in[i] over 1000 floats, split over the workers; and a kernel that fails.
#include "runtime/execution/kernel_abi.h"

static void piece(void* closure, int64_t begin, int64_t end, int32_t worker) {
  void* const* buffers = closure;
  const float* in = buffers[0];
  float* out = buffers[1];
  (void)worker;
  for (int64_t i = begin; i < end; ++i) out[i] = 2.0f * in[i];
}

int32_t scale(const AttuneKernelContext* context, void* const* buffers) {
  context->parallel_for(context->pool, 1000, piece, (void*)buffers);
  return 0;
}

int32_t refuse(const AttuneKernelContext* context, void* const* buffers) {
  (void)context;
  (void)buffers;
  return 7;
}
