// A shared object with a function that the loader calls to resolve a symbol.
#include "runtime/execution/kernel_abi.h"

__attribute__((used)) static AttuneKernel choose(void) { __builtin_trap(); }

int32_t chosen(const AttuneKernelContext* context, void* const* buffers)
    __attribute__((ifunc("choose")));

int32_t call_chosen(const AttuneKernelContext* context, void* const* buffers) {
  return chosen(context, buffers);
}
