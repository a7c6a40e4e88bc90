#include "tuner/measure/probe/issue_loop.h"

namespace attune::probe {
namespace {

constexpr std::int64_t kGroups = 16, kInGroup = 11;

using Vector = int __attribute__((vector_size(16)));

// Each sort has units of its own in all cores: additions, four of which wait for those of the group
// before, moves of vectors, and loads.
struct Registers {
  std::uint64_t a = 0, b = 0, c = 0, d = 0, one = 1, loaded = 0;
  Vector v = {}, w = {}, y = {}, z = {}, kept = {};
};

#if defined(__x86_64__)
[[gnu::always_inline]] inline void run_group(Registers& r, const std::uint64_t* memory) {
  asm volatile(
      "add %[one], %[a]\n\t"
      "movaps %[kept], %[v]\n\t"
      "mov (%[memory]), %[loaded]\n\t"
      "add %[one], %[b]\n\t"
      "movaps %[kept], %[w]\n\t"
      "mov (%[memory]), %[loaded]\n\t"
      "add %[one], %[c]\n\t"
      "movaps %[kept], %[y]\n\t"
      "mov (%[memory]), %[loaded]\n\t"
      "add %[one], %[d]\n\t"
      "movaps %[kept], %[z]"
      : [a] "+r"(r.a), [b] "+r"(r.b), [c] "+r"(r.c), [d] "+r"(r.d), [v] "=&x"(r.v), [w] "=&x"(r.w),
        [y] "=&x"(r.y), [z] "=&x"(r.z), [loaded] "=&r"(r.loaded)
      : [one] "r"(r.one), [kept] "x"(r.kept), [memory] "r"(memory)
      : "cc");
}
#elif defined(__aarch64__)
[[gnu::always_inline]] inline void run_group(Registers& r, const std::uint64_t* memory) {
  asm volatile(
      "add %[a], %[a], %[one]\n\t"
      "mov %[v].16b, %[kept].16b\n\t"
      "ldr %[loaded], [%[memory]]\n\t"
      "add %[b], %[b], %[one]\n\t"
      "mov %[w].16b, %[kept].16b\n\t"
      "ldr %[loaded], [%[memory]]\n\t"
      "add %[c], %[c], %[one]\n\t"
      "mov %[y].16b, %[kept].16b\n\t"
      "ldr %[loaded], [%[memory]]\n\t"
      "add %[d], %[d], %[one]\n\t"
      "mov %[z].16b, %[kept].16b"
      : [a] "+r"(r.a), [b] "+r"(r.b), [c] "+r"(r.c), [d] "+r"(r.d), [v] "=&w"(r.v), [w] "=&w"(r.w),
        [y] "=&w"(r.y), [z] "=&w"(r.z), [loaded] "=&r"(r.loaded)
      : [one] "r"(r.one), [kept] "w"(r.kept), [memory] "r"(memory));
}
#else
void run_group(Registers&, const std::uint64_t*) {}
#endif

}  // namespace

std::int64_t issued_instructions() {
#if defined(__x86_64__) || defined(__aarch64__)
  return kGroups * kInGroup;
#else
  return 0;
#endif
}

void run_issue_loop(std::int64_t rounds) {
  Registers registers;
  const std::uint64_t memory = 0;
  for (std::int64_t i = 0; i < rounds; ++i) {
#pragma GCC unroll 16
    for (std::int64_t j = 0; j < kGroups; ++j) run_group(registers, &memory);
  }
}

}  // namespace attune::probe
