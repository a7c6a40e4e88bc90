// out[i] = 3 * in[i] over 1000 floats, under the name that another module uses too.
#include "runtime/execution/kernel_abi.h"

int32_t scale(const AttuneKernelContext* context, void* const* buffers) {
  const float* in = buffers[0];
  float* out = buffers[1];
  (void)context;
  for (int i = 0; i < 1000; ++i) out[i] = 3.0f * in[i];
  return 0;
}
