// Counts what running a model takes from the heap: nothing, once the first run is over.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <new>

#include "runtime/execution/executor.h"
#include "runtime/format/sample_model_testing.h"

namespace {

std::atomic<std::int64_t> g_allocations{0};

}  // namespace

// The whole test program allocates through these; the sanitizers have their own.
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
void* operator new(std::size_t bytes) {
  g_allocations.fetch_add(1, std::memory_order_relaxed);
  if (void* memory = std::malloc(bytes > 0 ? bytes : 1)) return memory;
  throw std::bad_alloc();
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
#endif

namespace attune::runtime {
namespace {

TEST(Executor, AllocatesNothingPerRun) {
  SampleModel sample = sum_model();
  sample.plan.inputs[0].name = "a name that is too long to be kept inside of a string";
  sample.plan.body.push_back({Copy{.from = 2, .to = 3, .bytes = 8}});
  sample.plan.body.push_back(
      {Loop{.trip_count = 3, .body = {{Copy{.from = 2, .to = 3, .bytes = 8}}}, .layer = "loop"}});
  ThreadPool pool({.workers = 2});
  auto session = Session::create(sample.model(), pool);
  ASSERT_TRUE(session.ok());
  std::vector<float> x(1001), y(1001);
  const std::int64_t shape[] = {1000};
  for (const std::size_t shift : {0, 1}) {  // one of the two is not aligned
    const InputView input{x.data() + shift, DType::F32, shape};
    const OutputView output{y.data() + shift, 4000};
    ASSERT_TRUE(session->run({&input, 1}, {&output, 1}).ok());
    const std::int64_t before = g_allocations.load();
    for (int round = 0; round < 3; ++round) {
      ASSERT_TRUE(session->run({&input, 1}, {&output, 1}).ok());
    }
    EXPECT_EQ(g_allocations.load(), before);
  }
}

}  // namespace
}  // namespace attune::runtime
