#include "tuner/measure/probe/read_loop.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace attune::probe {
namespace {

constexpr std::int64_t kRound = 512;  // bytes

using Vector = float __attribute__((vector_size(16)));

void vectors_generic(const char* data, std::int64_t bytes) {
  for (std::int64_t i = 0; i < bytes; i += kRound) {
#pragma GCC unroll 32
    for (std::int64_t j = 0; j < kRound; j += 16) {
      const Vector value = *reinterpret_cast<const Vector*>(data + i + j);
#if defined(__aarch64__)
      asm volatile("" : : "w"(value));
#elif defined(__x86_64__)
      asm volatile("" : : "x"(value));
#else
      asm volatile("" : : "m"(value));
#endif
    }
  }
}

void broadcasts_generic(const char* data, std::int64_t bytes) { vectors_generic(data, bytes); }

#if defined(__x86_64__)
// One of each vector, and not the same one: their places in the banks of a cache differ.
const float* element(const char* data, std::int64_t offset, std::int64_t vector_bytes) {
  const std::int64_t vector = offset / vector_bytes, elements = vector_bytes / 4;
  return reinterpret_cast<const float*>(data + offset) + vector % elements;
}

[[gnu::target("avx2")]] void vectors_avx2(const char* data, std::int64_t bytes) {
  for (std::int64_t i = 0; i < bytes; i += kRound) {
#pragma GCC unroll 16
    for (std::int64_t j = 0; j < kRound; j += 32) {
      const __m256 value = _mm256_load_ps(reinterpret_cast<const float*>(data + i + j));
      asm volatile("" : : "x"(value));
    }
  }
}

[[gnu::target("avx2")]] void broadcasts_avx2(const char* data, std::int64_t bytes) {
  for (std::int64_t i = 0; i < bytes; i += kRound) {
#pragma GCC unroll 16
    for (std::int64_t j = 0; j < kRound; j += 32) {
      const __m256 value = _mm256_broadcast_ss(element(data + i, j, 32));
      asm volatile("" : : "x"(value));
    }
  }
}

[[gnu::target("avx512f")]] void vectors_avx512(const char* data, std::int64_t bytes) {
  for (std::int64_t i = 0; i < bytes; i += kRound) {
#pragma GCC unroll 8
    for (std::int64_t j = 0; j < kRound; j += 64) {
      const __m512 value = _mm512_load_ps(reinterpret_cast<const float*>(data + i + j));
      asm volatile("" : : "v"(value));
    }
  }
}

[[gnu::target("avx512f")]] void broadcasts_avx512(const char* data, std::int64_t bytes) {
  for (std::int64_t i = 0; i < bytes; i += kRound) {
#pragma GCC unroll 8
    for (std::int64_t j = 0; j < kRound; j += 64) {
      const __m512 value = _mm512_set1_ps(*element(data + i, j, 64));
      asm volatile("" : : "v"(value));
    }
  }
}

bool has_avx512() { return __builtin_cpu_supports("avx512f"); }
bool has_avx2() { return __builtin_cpu_supports("avx2"); }
#endif

}  // namespace

ReadLoop vector_reads() {
#if defined(__x86_64__)
  if (has_avx512()) return vectors_avx512;
  if (has_avx2()) return vectors_avx2;
#endif
  return vectors_generic;
}

ReadLoop broadcast_reads() {
#if defined(__x86_64__)
  if (has_avx512()) return broadcasts_avx512;
  if (has_avx2()) return broadcasts_avx2;
#endif
  return broadcasts_generic;
}

std::int64_t read_vector_bytes() {
#if defined(__x86_64__)
  if (has_avx512()) return 64;
  if (has_avx2()) return 32;
#endif
  return 16;
}

}  // namespace attune::probe
