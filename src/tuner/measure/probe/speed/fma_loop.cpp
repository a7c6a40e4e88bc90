#include "tuner/measure/probe/speed/fma_loop.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace attune::probe {
namespace {

// Latency (4 or 5 cycles) times throughput (2 a cycle) asks for 8 to 10 chains, of the widest cores
// (4 a cycle) for 16; these leave room and fit 16 vector registers and 32.
constexpr int kChains = 12, kManyChains = 24;
#if defined(__aarch64__)
constexpr int kGenericChains = kManyChains;
#else
constexpr int kGenericChains = kChains;
#endif
constexpr float kScale = 0.999f, kStep = 0.001f;

using Vector = float __attribute__((vector_size(16)));

float run_generic(std::int64_t rounds) {
  Vector chain[kGenericChains];
  for (int i = 0; i < kGenericChains; ++i) chain[i] = Vector{} + static_cast<float>(i);
  const Vector scale = Vector{} + kScale;
  const Vector step = Vector{} + kStep;
  for (std::int64_t r = 0; r < rounds; ++r) {
#pragma GCC unroll 24
    for (int i = 0; i < kGenericChains; ++i) chain[i] = chain[i] * scale + step;
  }
  float sum = 0.0f;
  for (const Vector& value : chain) sum += value[0] + value[1] + value[2] + value[3];
  return sum;
}

float chain_generic(std::int64_t rounds) {
  const Vector scale = Vector{} + kScale;
  const Vector step = Vector{} + kStep;
  Vector value = Vector{};
  for (std::int64_t r = 0; r < rounds; ++r) value = value * scale + step;
  return value[0];
}

#if defined(__x86_64__)
[[gnu::target("avx2,fma")]] float run_avx2(std::int64_t rounds) {
  __m256 chain[kChains];
  for (int i = 0; i < kChains; ++i) chain[i] = _mm256_set1_ps(static_cast<float>(i));
  const __m256 scale = _mm256_set1_ps(kScale);
  const __m256 step = _mm256_set1_ps(kStep);
  for (std::int64_t r = 0; r < rounds; ++r) {
#pragma GCC unroll 12
    for (int i = 0; i < kChains; ++i) chain[i] = _mm256_fmadd_ps(chain[i], scale, step);
  }
  __m256 sum = _mm256_setzero_ps();
  for (const __m256& value : chain) sum = _mm256_add_ps(sum, value);
  return _mm256_cvtss_f32(sum);
}

[[gnu::target("avx2,fma")]] float chain_avx2(std::int64_t rounds) {
  const __m256 scale = _mm256_set1_ps(kScale);
  const __m256 step = _mm256_set1_ps(kStep);
  __m256 value = _mm256_setzero_ps();
  for (std::int64_t r = 0; r < rounds; ++r) value = _mm256_fmadd_ps(value, scale, step);
  return _mm256_cvtss_f32(value);
}

[[gnu::target("avx512f")]] float run_avx512(std::int64_t rounds) {
  __m512 chain[kManyChains];
  for (int i = 0; i < kManyChains; ++i) chain[i] = _mm512_set1_ps(static_cast<float>(i));
  const __m512 scale = _mm512_set1_ps(kScale);
  const __m512 step = _mm512_set1_ps(kStep);
  for (std::int64_t r = 0; r < rounds; ++r) {
#pragma GCC unroll 24
    for (int i = 0; i < kManyChains; ++i) chain[i] = _mm512_fmadd_ps(chain[i], scale, step);
  }
  __m512 sum = _mm512_setzero_ps();
  for (const __m512& value : chain) sum = _mm512_add_ps(sum, value);
  return _mm512_cvtss_f32(sum);
}

[[gnu::target("avx512f")]] float chain_avx512(std::int64_t rounds) {
  const __m512 scale = _mm512_set1_ps(kScale);
  const __m512 step = _mm512_set1_ps(kStep);
  __m512 value = _mm512_setzero_ps();
  for (std::int64_t r = 0; r < rounds; ++r) value = _mm512_fmadd_ps(value, scale, step);
  return _mm512_cvtss_f32(value);
}
#endif

constexpr double flops(int chains, int lanes) { return 2.0 * chains * lanes; }

}  // namespace

std::vector<FmaLoop> fma_loops() {
  std::vector<FmaLoop> loops;
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f")) {
    loops.push_back({"avx512", 64, flops(kManyChains, 16), run_avx512, chain_avx512});
  }
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
    loops.push_back({"avx2", 32, flops(kChains, 8), run_avx2, chain_avx2});
  }
#endif
  loops.push_back({"generic", 16, flops(kGenericChains, 4), run_generic, chain_generic});
  return loops;
}

}  // namespace attune::probe
