// What instructions of warpgroups need around them: they run beside what follows, in groups that
// are waited for, and read shared memory by themselves.
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
__device__ __forceinline__ void at_matrix_fence() {
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}
__device__ __forceinline__ void at_matrix_commit() {
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}
template <int groups>
__device__ __forceinline__ void at_matrix_wait() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(groups) : "memory");
}
__device__ __forceinline__ void at_shared_fence() {
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

// A matrix in shared memory as instructions name it: where it begins, and how many bytes lie
// between columns of 16 bytes and between groups of eight rows.
template <int lead, int group>
__device__ __forceinline__ unsigned long long at_matrix(const void* first) {
  const unsigned at = (unsigned)__cvta_generic_to_shared(first);
  return (unsigned long long)((at & 0x3ffff) >> 4) | (unsigned long long)(lead >> 4) << 16 |
         (unsigned long long)(group >> 4) << 32;
}
#endif
