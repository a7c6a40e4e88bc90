// Whatever runs of this object ends the process; it has tables of all kinds.
#include "runtime/execution/kernel_abi.h"

static int32_t trap(void) { __builtin_trap(); }
static int32_t (*const volatile table[])(void) = {trap, trap, trap};

int32_t number = 5;
int32_t* place_of_number = &number;
int32_t exported_trap(void) { __builtin_trap(); }

int32_t trapped(const AttuneKernelContext* context, void* const* buffers) {
  (void)context;
  (void)buffers;
  return table[0]() + *place_of_number + exported_trap() + number;
}
