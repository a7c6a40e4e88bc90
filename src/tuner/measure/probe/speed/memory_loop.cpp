#include "tuner/measure/probe/speed/memory_loop.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace attune::probe {
namespace {

using Vector = float __attribute__((vector_size(16)));

// Without a branch: one that is taken once in a few hundred cycles is often foreseen wrongly, which
// costs a tenth of them.
[[gnu::always_inline]] inline std::int64_t next_round(std::int64_t at, std::int64_t bytes) {
  const std::int64_t next = at + kRoundBytes;
  return next & -static_cast<std::int64_t>(next != bytes);
}

void reads_generic(char* data, std::int64_t bytes, std::int64_t rounds) {
  for (std::int64_t i = 0, at = 0; i < rounds; ++i, at = next_round(at, bytes)) {
#pragma GCC unroll 64
    for (std::int64_t j = 0; j < kRoundBytes; j += 16) {
      const Vector value = *reinterpret_cast<const Vector*>(data + at + j);
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

void writes_generic(char* data, std::int64_t bytes, std::int64_t rounds) {
  const Vector value = Vector{} + 1.0f;
  for (std::int64_t i = 0, at = 0; i < rounds; ++i, at = next_round(at, bytes)) {
#pragma GCC unroll 64
    for (std::int64_t j = 0; j < kRoundBytes; j += 16) {
      *reinterpret_cast<Vector*>(data + at + j) = value;
      asm volatile("" : : : "memory");
    }
  }
}

#if defined(__x86_64__)
// One of each vector, and not the same one: their places in the banks of a cache differ.
const float* element(const char* data, std::int64_t offset, std::int64_t vector_bytes) {
  const std::int64_t vector = offset / vector_bytes, elements = vector_bytes / 4;
  return reinterpret_cast<const float*>(data + offset) + vector % elements;
}

[[gnu::target("avx2")]] void reads_avx2(char* data, std::int64_t bytes, std::int64_t rounds) {
  for (std::int64_t i = 0, at = 0; i < rounds; ++i, at = next_round(at, bytes)) {
#pragma GCC unroll 32
    for (std::int64_t j = 0; j < kRoundBytes; j += 32) {
      const __m256 value = _mm256_load_ps(reinterpret_cast<const float*>(data + at + j));
      asm volatile("" : : "x"(value));
    }
  }
}

[[gnu::target("avx2")]] void broadcasts_avx2(char* data, std::int64_t bytes, std::int64_t rounds) {
  for (std::int64_t i = 0, at = 0; i < rounds; ++i, at = next_round(at, bytes)) {
#pragma GCC unroll 32
    for (std::int64_t j = 0; j < kRoundBytes; j += 32) {
      const __m256 value = _mm256_broadcast_ss(element(data + at, j, 32));
      asm volatile("" : : "x"(value));
    }
  }
}

[[gnu::target("avx2")]] void writes_avx2(char* data, std::int64_t bytes, std::int64_t rounds) {
  const __m256 value = _mm256_set1_ps(1.0f);
  for (std::int64_t i = 0, at = 0; i < rounds; ++i, at = next_round(at, bytes)) {
#pragma GCC unroll 32
    for (std::int64_t j = 0; j < kRoundBytes; j += 32) {
      _mm256_store_ps(reinterpret_cast<float*>(data + at + j), value);
      asm volatile("" : : : "memory");
    }
  }
}

[[gnu::target("avx512f")]] void reads_avx512(char* data, std::int64_t bytes, std::int64_t rounds) {
  for (std::int64_t i = 0, at = 0; i < rounds; ++i, at = next_round(at, bytes)) {
#pragma GCC unroll 16
    for (std::int64_t j = 0; j < kRoundBytes; j += 64) {
      const __m512 value = _mm512_load_ps(reinterpret_cast<const float*>(data + at + j));
      asm volatile("" : : "v"(value));
    }
  }
}

[[gnu::target("avx512f")]] void broadcasts_avx512(char* data, std::int64_t bytes,
                                                  std::int64_t rounds) {
  for (std::int64_t i = 0, at = 0; i < rounds; ++i, at = next_round(at, bytes)) {
#pragma GCC unroll 16
    for (std::int64_t j = 0; j < kRoundBytes; j += 64) {
      const __m512 value = _mm512_set1_ps(*element(data + at, j, 64));
      asm volatile("" : : "v"(value));
    }
  }
}

[[gnu::target("avx512f")]] void writes_avx512(char* data, std::int64_t bytes, std::int64_t rounds) {
  const __m512 value = _mm512_set1_ps(1.0f);
  for (std::int64_t i = 0, at = 0; i < rounds; ++i, at = next_round(at, bytes)) {
#pragma GCC unroll 16
    for (std::int64_t j = 0; j < kRoundBytes; j += 64) {
      _mm512_store_ps(reinterpret_cast<float*>(data + at + j), value);
      asm volatile("" : : : "memory");
    }
  }
}

bool has_avx512() { return __builtin_cpu_supports("avx512f"); }
bool has_avx2() { return __builtin_cpu_supports("avx2"); }
#endif

}  // namespace

MemoryLoop vector_reads() {
#if defined(__x86_64__)
  if (has_avx512()) return reads_avx512;
  if (has_avx2()) return reads_avx2;
#endif
  return reads_generic;
}

MemoryLoop broadcast_reads() {
#if defined(__x86_64__)
  if (has_avx512()) return broadcasts_avx512;
  if (has_avx2()) return broadcasts_avx2;
#endif
  return reads_generic;
}

MemoryLoop vector_writes() {
#if defined(__x86_64__)
  if (has_avx512()) return writes_avx512;
  if (has_avx2()) return writes_avx2;
#endif
  return writes_generic;
}

std::int64_t memory_vector_bytes() {
#if defined(__x86_64__)
  if (has_avx512()) return 64;
  if (has_avx2()) return 32;
#endif
  return 16;
}

}  // namespace attune::probe
