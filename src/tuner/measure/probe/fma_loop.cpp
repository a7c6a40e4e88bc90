#include "tuner/measure/probe/fma_loop.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace attune::probe {
namespace {

// Latency (4 or 5 cycles) times throughput (2 a cycle) asks for 8 to 10 chains; 12 leave room and
// fit the 16 vector registers of AVX2.
constexpr int kChains = 12;

using Vector = float __attribute__((vector_size(16)));

float run_generic(std::int64_t rounds) {
  Vector chain[kChains];
  for (int i = 0; i < kChains; ++i) chain[i] = Vector{} + static_cast<float>(i);
  const Vector scale = Vector{} + 0.999f;
  const Vector step = Vector{} + 0.001f;
  for (std::int64_t r = 0; r < rounds; ++r) {
#pragma GCC unroll 12
    for (int i = 0; i < kChains; ++i) chain[i] = chain[i] * scale + step;
  }
  float sum = 0.0f;
  for (const Vector& value : chain) sum += value[0] + value[1] + value[2] + value[3];
  return sum;
}

#if defined(__x86_64__)
[[gnu::target("avx2,fma")]] float run_avx2(std::int64_t rounds) {
  __m256 chain[kChains];
  for (int i = 0; i < kChains; ++i) chain[i] = _mm256_set1_ps(static_cast<float>(i));
  const __m256 scale = _mm256_set1_ps(0.999f);
  const __m256 step = _mm256_set1_ps(0.001f);
  for (std::int64_t r = 0; r < rounds; ++r) {
#pragma GCC unroll 12
    for (int i = 0; i < kChains; ++i) chain[i] = _mm256_fmadd_ps(chain[i], scale, step);
  }
  __m256 sum = _mm256_setzero_ps();
  for (const __m256& value : chain) sum = _mm256_add_ps(sum, value);
  return _mm256_cvtss_f32(sum);
}

[[gnu::target("avx512f")]] float run_avx512(std::int64_t rounds) {
  __m512 chain[kChains];
  for (int i = 0; i < kChains; ++i) chain[i] = _mm512_set1_ps(static_cast<float>(i));
  const __m512 scale = _mm512_set1_ps(0.999f);
  const __m512 step = _mm512_set1_ps(0.001f);
  for (std::int64_t r = 0; r < rounds; ++r) {
#pragma GCC unroll 12
    for (int i = 0; i < kChains; ++i) chain[i] = _mm512_fmadd_ps(chain[i], scale, step);
  }
  __m512 sum = _mm512_setzero_ps();
  for (const __m512& value : chain) sum = _mm512_add_ps(sum, value);
  return _mm512_cvtss_f32(sum);
}
#endif

constexpr double flops(int lanes) { return 2.0 * kChains * lanes; }

}  // namespace

std::vector<FmaLoop> fma_loops() {
  std::vector<FmaLoop> loops;
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f")) loops.push_back({"avx512", 64, flops(16), run_avx512});
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
    loops.push_back({"avx2", 32, flops(8), run_avx2});
  }
#endif
  loops.push_back({"generic", 16, flops(4), run_generic});
  return loops;
}

}  // namespace attune::probe
