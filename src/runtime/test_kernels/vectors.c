// Small kernels on vectors of floats, for models made by hand: out = a + b over 1000 elements,
// out = 2 * in over 4, the sum of carried and step over 4 with a flag whether to go on.
#include "runtime/execution/kernel_abi.h"

int32_t add_1000(const AttuneKernelContext* context, void* const* buffers) {
  const float* a = buffers[0];
  const float* b = buffers[1];
  float* out = buffers[2];
  (void)context;
  for (int i = 0; i < 1000; ++i) out[i] = a[i] + b[i];
  return 0;
}

int32_t twice_4(const AttuneKernelContext* context, void* const* buffers) {
  const float* in = buffers[0];
  float* out = buffers[1];
  float* scratch = context->workspace;
  for (int i = 0; i < 4; ++i) scratch[i] = in[i];
  for (int i = 0; i < 4; ++i) out[i] = 2.0f * scratch[i];
  return 0;
}

// carried, step -> next, go_on: next = carried + step, go_on = next[0] < 10.
int32_t advance_4(const AttuneKernelContext* context, void* const* buffers) {
  const float* carried = buffers[0];
  const float* step = buffers[1];
  float* next = buffers[2];
  uint8_t* go_on = buffers[3];
  (void)context;
  for (int i = 0; i < 4; ++i) next[i] = carried[i] + step[i];
  *go_on = next[0] < 10.0f;
  return 0;
}

int32_t refuse(const AttuneKernelContext* context, void* const* buffers) {
  (void)context;
  (void)buffers;
  return 7;
}
