// A shared object that exports a function to be resolved by a call of its own code, and uses it
// nowhere.
#include "runtime/execution/kernel_abi.h"

__attribute__((used)) static AttuneKernel choose(void) { __builtin_trap(); }

int32_t chosen(const AttuneKernelContext* context, void* const* buffers)
    __attribute__((ifunc("choose")));
