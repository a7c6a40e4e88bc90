// Kernels that misbehave, each in its own way, over 1024 floats: buffer 0 and 1 are inputs, 2 is the
// output.
#include <stdlib.h>
#include <unistd.h>

#include "runtime/execution/kernel_abi.h"

enum { kElements = 1024 };
#define KERNEL(name) \
  int32_t name(__attribute__((unused)) const AttuneKernelContext* context, void* const* buffers)

static float* output(void* const* buffers) { return buffers[2]; }

KERNEL(write_null) {
  (void)buffers;
  *(volatile int*)0 = 1;
  return 0;
}

KERNEL(loop_forever) {
  (void)buffers;
  for (volatile int i = 0;; ++i) continue;
}

KERNEL(allocate_100_gigabytes) {
  const size_t bytes = (size_t)100 << 30;
  volatile char* memory = malloc(bytes);
  for (size_t i = 0; i < bytes; i += 4096) memory[i] = 1;
  output(buffers)[0] = memory[4096];
  return 0;
}

KERNEL(allocate_bit_by_bit) {
  for (int i = 0; i < 1 << 20; ++i) {
    volatile char* memory = malloc(1 << 20);
    if (memory == NULL) return 12;
    for (int j = 0; j < 1 << 20; j += 4096) memory[j] = 1;
  }
  (void)buffers;
  return 0;
}

KERNEL(write_one_past) {
  ((volatile float*)output(buffers))[kElements] = 1.0f;
  return 0;
}

KERNEL(write_one_before) {
  ((volatile float*)output(buffers))[-1] = 1.0f;
  return 0;
}

KERNEL(write_far_past) {
  ((volatile float*)output(buffers))[kElements + 5000] = 1.0f;
  return 0;
}

KERNEL(read_far_before) {
  output(buffers)[0] = ((volatile float*)buffers[0])[-10000];
  return 0;
}

KERNEL(write_input) {
  ((volatile float*)buffers[1])[3] = 1.0f;
  return 0;
}

KERNEL(write_past_workspace) {
  (void)buffers;
  ((volatile char*)context->workspace)[100] = 1;
  return 0;
}

// Right but for the last element, which it never writes.
KERNEL(forget_last) {
  for (int i = 0; i + 1 < kElements; ++i) {
    output(buffers)[i] = ((float*)buffers[0])[i] + ((float*)buffers[1])[i];
  }
  return 0;
}

KERNEL(return_status) {
  (void)buffers;
  return 42;
}

KERNEL(leave) {
  (void)buffers;
  _Exit(3);
}

KERNEL(give_up) {
  (void)buffers;
  abort();
}

KERNEL(illegal) {
  (void)buffers;
  __builtin_trap();
}

static int recurse(volatile int* depth) {
  volatile char frame[4096];
  frame[0] = (char)*depth;
  *depth += 1;
  return *depth < 0 ? 0 : recurse(depth) + frame[0];
}

KERNEL(overflow_stack) {
  volatile int depth = 0;
  (void)buffers;
  return recurse(&depth);
}

static void crash_piece(void* closure, int64_t begin, int64_t end, int32_t worker) {
  (void)begin;
  (void)end;
  if (worker == 1) ((volatile float*)closure)[kElements + 5000] = 1.0f;
}

// Dies in the second worker.
KERNEL(crash_in_parallel) {
  context->parallel_for(context->pool, 2, crash_piece, output(buffers));
  return 0;
}
