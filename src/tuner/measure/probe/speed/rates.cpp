#include "tuner/measure/probe/speed/rates.h"

namespace attune::probe {

double fma_rate(runtime::ThreadPool& pool, const FmaLoop& loop, std::int64_t rounds,
                double seconds) {
  struct Work {
    const FmaLoop* loop;
    std::int64_t rounds;
  };
  Work work{&loop, rounds};
  const double flops = loop.flops_per_round * static_cast<double>(rounds) * pool.workers();
  return best_rate(seconds, flops, [&] {
    pool.parallel_for(
        pool.workers(),
        [](void* closure, std::int64_t, std::int64_t, std::int32_t) {
          const auto* mine = static_cast<const Work*>(closure);
          const volatile float sink = mine->loop->run(mine->rounds);
          static_cast<void>(sink);
        },
        &work);
  });
}

}  // namespace attune::probe
