/* Launches that overlap. One that began before the work in front of it has ended waits here until
 * all of that is done and can be seen; of one that did not, nothing is left to wait for. Cards
 * before sm_90 have no such launches. */
__device__ __forceinline__ void at_await_work_before() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

/* When all blocks have come here or ended, the launch behind may begin. */
__device__ __forceinline__ void at_let_next_begin() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;");
#endif
}
