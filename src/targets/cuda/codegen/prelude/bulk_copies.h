// Pieces of global memory that the device copies to shared memory by itself. A counter of arrivals
// has phases: one ends when its copy is there, and its parity says which one a thread waits for.
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
template <int count>
__device__ __forceinline__ void at_make_counters(long long* counters) {
  const unsigned first = (unsigned)__cvta_generic_to_shared(counters);
  for (int i = 0; i < count; ++i) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(first + 8 * i) : "memory");
  }
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}

// Of what several blocks of a cluster want, each has a part copied for all.
template <int bytes, int blocks>
__device__ __forceinline__ void at_copy_bulk(void* to, const void* from, long long* counter) {
  const unsigned place = (unsigned)__cvta_generic_to_shared(to);
  const unsigned arrival = (unsigned)__cvta_generic_to_shared(counter);
  const unsigned long long source = (unsigned long long)__cvta_generic_to_global(from);
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(arrival), "r"(bytes)
               : "memory");
  if (blocks == 1) {
    asm volatile(
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::
            "r"(place),
        "l"(source), "r"(bytes), "r"(arrival)
        : "memory");
  } else {
    unsigned rank;
    asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    const unsigned part = rank * (bytes / blocks);
    asm volatile(
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster "
        "[%0], [%1], %2, [%3], %4;" ::"r"(place + part),
        "l"(source + part), "r"(bytes / blocks), "r"(arrival),
        "h"((unsigned short)((1 << blocks) - 1))
        : "memory");
  }
}

__device__ __forceinline__ void at_wait_for_bulk(long long* counter, int parity) {
  asm volatile(
      "{\n"
      ".reg .pred arrived;\n"
      "AGAIN:\n"
      "mbarrier.try_wait.parity.shared::cta.b64 arrived, [%0], %1;\n"
      "@arrived bra THERE;\n"
      "bra AGAIN;\n"
      "THERE:\n"
      "}" ::"r"((unsigned)__cvta_generic_to_shared(counter)),
      "r"(parity)
      : "memory");
}

__device__ __forceinline__ void at_meet_cluster() {
  asm volatile(
      "barrier.cluster.arrive.release.aligned;\n"
      "barrier.cluster.wait.acquire.aligned;" ::
          : "memory");
}
#endif
