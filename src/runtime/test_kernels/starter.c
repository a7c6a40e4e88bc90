// A shared object that runs something when it is loaded, which artifacts may not.
#include "runtime/execution/kernel_abi.h"

static int32_t started;

__attribute__((constructor)) static void start(void) { started = 1; }

int32_t has_started(const AttuneKernelContext* context, void* const* buffers) {
  (void)context;
  (void)buffers;
  return started;
}
