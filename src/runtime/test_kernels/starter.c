// A shared object that runs something when it is loaded, which artifacts may not.
#include "runtime/execution/kernel_abi.h"

__attribute__((constructor)) static void start(void) { __builtin_trap(); }

int32_t nothing(const AttuneKernelContext* context, void* const* buffers) {
  (void)context;
  (void)buffers;
  return 0;
}
