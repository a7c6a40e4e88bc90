/* Copies from global to shared memory that run beside what follows. Groups of them arrive in order,
 * and are there for the thread that waited, for others after a barrier. Cards before sm_80 copy at
 * once. What is not valid is zero, and is not read. */
template <int bytes>
__device__ __forceinline__ void at_copy_async(void* to, const void* from, bool valid) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  asm volatile(
      "cp.async.ca.shared.global [%0], [%1], %2, %3;" ::"r"((unsigned)__cvta_generic_to_shared(to)),
      "l"(__cvta_generic_to_global(from)), "n"(bytes), "r"(valid ? bytes : 0)
      : "memory");
#else
  for (int i = 0; i < bytes / 4; ++i) {
    ((unsigned*)to)[i] = valid ? ((const unsigned*)from)[i] : 0u;
  }
#endif
}

__device__ __forceinline__ void at_commit_copies() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  asm volatile("cp.async.commit_group;" ::: "memory");
#endif
}

template <int groups>
__device__ __forceinline__ void at_wait_for_copies() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  asm volatile("cp.async.wait_group %0;" ::"n"(groups) : "memory");
#endif
}
