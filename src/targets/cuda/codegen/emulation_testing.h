// Test support: the text of kernels, compiled as C++ by the machine's compiler and run without a
// device. The threads of a block are contexts that take turns where they wait for each other, in an
// order that changes from turn to turn; blocks run one after the other.
#pragma once

namespace attune::cuda {

// Stands before the text. Kernels of a library are called by emulate(), which it exports.
inline constexpr const char* kEmulation = R"cpp(
#include <math.h>
#include <stdint.h>
#include <string.h>
#include <ucontext.h>
#include <memory>
#include <vector>

#define __global__
#define __device__
#define __forceinline__ inline
#define __launch_bounds__(...)
#define __restrict__
#define __align__(n) __attribute__((aligned(n)))
#define __shared__ static
  struct __align__(8) uint2 {
    unsigned x, y;
  };
  struct __align__(16) uint4 {
    unsigned x, y, z, w;
  };
  static inline float rsqrtf(float x) { return 1.0f / sqrtf(x); }
  static inline double rsqrt(double x) { return 1.0 / sqrt(x); }
  static inline float __fdividef(float x, float y) { return x / y; }

  struct Place {
    unsigned x, y, z;
  };
  static Place blockIdx, threadIdx;
  alignas(128) unsigned char at_shared[1 << 20];

  namespace emulation {
  struct Address {  // of whatever a parameter points to
    void* place;
    template <typename T>
    operator T*() const {
      return (T*)place;
    }
  };
  constexpr size_t kStackBytes = 1 << 20;
  struct Thread {
    ucontext_t context;
    std::unique_ptr<char[]> stack{new char[kStackBytes]};
    bool done = false;
  };
  static std::vector<Thread> threads;
  static ucontext_t turn;
  static unsigned running;
  static int waiting;
  static void (*body)(void**);
  static void** arguments;

  static void begin() {
    body(arguments);
    threads[running].done = true;
  }
  }  // namespace emulation

  static inline void __syncthreads() {
    ++emulation::waiting;
    const Place mine = threadIdx;
    swapcontext(&emulation::threads[emulation::running].context, &emulation::turn);
    threadIdx = mine;
  }

  // Matrix instructions: all lanes of all warps leave their registers and take what the manual says
  // that they multiply.
  namespace emulation {
  static uint32_t left[1024][4], right[1024][2];
  static float from_half(uint32_t word, int which) {
    const uint16_t bits = (uint16_t)(word >> 16 * which);
    _Float16 value;
    memcpy(&value, &bits, 2);
    return (float)value;
  }
  static float from_bf16(uint32_t word, int which) {
    const uint32_t bits = which ? word & 0xffff0000u : word << 16;
    float value;
    memcpy(&value, &bits, 4);
    return value;
  }
  static float from_tf32(uint32_t word, int) {
    word &= 0xffffe000u;
    float value;
    memcpy(&value, &word, 4);
    return value;
  }
  static void multiply(float* const (&c)[4], const uint32_t (&a)[4], const uint32_t (&b)[2],
                       int pairs, float (*value)(uint32_t, int)) {
    const unsigned me = running, lane = me % 32, warp = me - lane;
    memcpy(left[me], a, sizeof a);
    memcpy(right[me], b, sizeof b);
    __syncthreads();
    for (unsigned e = 0; e < 4; ++e) {
      const unsigned row = lane / 4 + e / 2 * 8, column = lane % 4 * 2 + e % 2;
      for (unsigned k = 0; k < 8u * pairs; ++k) {
        const unsigned thread = k / pairs % 4, half = k / (4 * pairs);
        *c[e] += value(left[warp + row % 8 * 4 + thread][row / 8 + 2 * half], k % pairs) *
                 value(right[warp + column * 4 + thread][half], k % pairs);
      }
    }
    __syncthreads();
  }
  }  // namespace emulation
  static uint32_t at_round_tf32(uint32_t x) { return (x + 0x1000u) & 0xffffe000u; }
#define AT_EMULATED_MMA(name, pairs, value)                                                    \
    static void at_mma_##name(float& c0, float& c1, float& c2, float& c3, uint32_t a0,           \
                              uint32_t a1, uint32_t a2, uint32_t a3, uint32_t b0, uint32_t b1) { \
      emulation::multiply({&c0, &c1, &c2, &c3}, {a0, a1, a2, a3}, {b0, b1}, pairs,               \
                          emulation::value);                                                     \
    }
  AT_EMULATED_MMA(m16n8k16_f16, 2, from_half)
  AT_EMULATED_MMA(m16n8k16_bf16, 2, from_bf16)
  AT_EMULATED_MMA(m16n8k8_tf32, 1, from_tf32)

  // 0, or 1 when some threads of a block waited for others that had ended.
  extern "C" int emulate(void (*body)(void**), const int64_t* grid, const int64_t* block,
                         void** arguments) {
    using namespace emulation;
    const unsigned count = (unsigned)(block[0] * block[1] * block[2]);
    threads.resize(count);
    emulation::body = body;
    emulation::arguments = arguments;
    unsigned salt = 1;
    for (int64_t b = 0; b < grid[0] * grid[1] * grid[2]; ++b) {
      blockIdx = {(unsigned)(b % grid[0]), (unsigned)(b / grid[0] % grid[1]),
                  (unsigned)(b / grid[0] / grid[1])};
      for (unsigned t = 0; t < count; ++t) {
        getcontext(&threads[t].context);
        threads[t].context.uc_stack = {threads[t].stack.get(), 0, kStackBytes};
        threads[t].context.uc_link = &turn;
        threads[t].done = false;
        makecontext(&threads[t].context, (void (*)())begin, 0);
      }
      for (bool more = true; more;) {
        waiting = 0;
        const unsigned first = salt++ * 7919u % count;
        for (unsigned i = 0; i < count; ++i) {
          running = (salt % 2 != 0 ? first + i : first + count - i) % count;
          threadIdx = {(unsigned)(running % block[0]), (unsigned)(running / block[0] % block[1]),
                       (unsigned)(running / block[0] / block[1])};
          if (!threads[running].done) swapcontext(&turn, &threads[running].context);
        }
        more = waiting != 0;
        if (more && waiting != (int)count) return 1;
      }
    }
    return 0;
  }
)cpp";

}  // namespace attune::cuda
