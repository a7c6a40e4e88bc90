// Kernels that mean harm, each in its own way, over 1024 floats: buffer 0 and 1 are inputs, 2 is the
// output. They speak to the system themselves, as no library would let them. What they try must not
// be worse than a test that fails: nothing here signals processes that it does not know.
#include <linux/sched.h>
#include <signal.h>
#include <stdint.h>
#include <sys/syscall.h>

#include "runtime/execution/kernel_abi.h"

enum { kElements = 1024, kDescriptors = 64, kPage = 4096 };
#define KERNEL(name)                                                       \
  int32_t name(__attribute__((unused)) const AttuneKernelContext* context, \
               __attribute__((unused)) void* const* buffers)

#if defined(__x86_64__)
static long ask(long number, long a, long b, long c, long d, long e, long f) {
  long result;
  register long r10 __asm__("r10") = d;
  register long r8 __asm__("r8") = e;
  register long r9 __asm__("r9") = f;
  __asm__ volatile("syscall"
                   : "=a"(result)
                   : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                   : "rcx", "r11", "memory");
  return result;
}
#else
static long ask(long number, long a, long b, long c, long d, long e, long f) {
  register long x8 __asm__("x8") = number;
  register long x0 __asm__("x0") = a;
  register long x1 __asm__("x1") = b;
  register long x2 __asm__("x2") = c;
  register long x3 __asm__("x3") = d;
  register long x4 __asm__("x4") = e;
  register long x5 __asm__("x5") = f;
  __asm__ volatile("svc 0"
                   : "+r"(x0)
                   : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5)
                   : "memory");
  return x0;
}
#endif
#define ASK3(n, a, b, c) ask((n), (long)(a), (long)(b), (long)(c), 0, 0, 0)
#define ASK6(n, a, b, c, d, e, f) \
  ask((n), (long)(a), (long)(b), (long)(c), (long)(d), (long)(e), (long)(f))

static void loop(void) {
  for (volatile int i = 0;; ++i) continue;
}

static void add(void* const* buffers) {
  for (int i = 0; i < kElements; ++i) {
    ((float*)buffers[2])[i] = ((float*)buffers[0])[i] + ((float*)buffers[1])[i];
  }
}

// A child, in the first call, that leaves its session and never ends; its number goes to the output.
KERNEL(fork_and_stay) {
  static int32_t child;
  if (child == 0) child = (int32_t)ask(SYS_clone, SIGCHLD, 0, 0, 0, 0, 0);
  if (child == 0) {
    ASK3(SYS_setsid, 0, 0, 0);
    loop();
  }
  ((int32_t*)buffers[2])[0] = child;
  return 0;
}

KERNEL(execute) {
  const char* const arguments[] = {"/bin/true", 0};
  ASK3(SYS_execve, arguments[0], arguments, 0);
  return 1;
}

KERNEL(open_file) { return (int32_t)ASK6(SYS_openat, -100, "/etc/passwd", 0, 0, 0, 0); }
KERNEL(connect_out) { return (int32_t)ASK3(SYS_socket, 2, 1, 0); }
KERNEL(trace) { return (int32_t)ASK6(SYS_ptrace, 0, 0, 0, 0, 0, 0); }
KERNEL(signal_others) { return (int32_t)ASK3(SYS_kill, ASK3(SYS_getpid, 0, 0, 0), 0, 0); }
KERNEL(share_memory) { return (int32_t)ASK3(SYS_memfd_create, "more", 0, 0); }
KERNEL(queue_work) { return (int32_t)ASK3(SYS_io_uring_setup, 8, 0, 0); }
KERNEL(leave_namespace) { return (int32_t)ASK3(SYS_unshare, 0x10000000, 0, 0); }
KERNEL(ignore_signals) { return (int32_t)ASK6(SYS_rt_sigaction, SIGSYS, 0, 0, 8, 0, 0); }
KERNEL(move_away) {
  const unsigned long all = ~0ul;
  return (int32_t)ASK3(SYS_sched_setaffinity, 0, sizeof all, &all);
}

// Stops the process that watches over this one.
KERNEL(stop_parent) {
  ASK3(SYS_kill, ASK3(SYS_getppid, 0, 0, 0), SIGSTOP, 0);
  loop();
  return 0;
}

KERNEL(kill_itself) {
  const long self = ASK3(SYS_getpid, 0, 0, 0);
  ASK3(SYS_tgkill, self, self, SIGKILL);
  return 1;
}

KERNEL(start_thread) {
  const long flags = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD;
  const long child = ask(SYS_clone, flags, (long)(buffers[2]) + kPage, 0, 0, 0, 0);
  if (child == 0) loop();
  return 0;
}

// Whoever reads the shared memory after this dies, if it can be done.
KERNEL(shrink_shared_memory) {
  for (int i = 3; i < kDescriptors; ++i) ASK3(SYS_ftruncate, i, 0, 0);
  add(buffers);
  return 0;
}

KERNEL(close_everything) {
  for (int i = 0; i < kDescriptors; ++i) ASK3(SYS_close, i, 0, 0);
  add(buffers);
  return 0;
}

KERNEL(close_everything_and_loop) {
  for (int i = 0; i < kDescriptors; ++i) ASK3(SYS_close, i, 0, 0);
  loop();
  return 0;
}

static void* map_memory(unsigned long bytes) {
  void* memory = (void*)ASK6(SYS_mmap, 0, bytes, 3, 0x22, -1, 0);
  return (unsigned long)memory > -4096ul ? 0 : memory;
}

KERNEL(take_all_memory) {
  enum { kPiece = 16 << 20 };
  for (int piece = 0; piece < 4096; ++piece) {
    volatile char* memory = map_memory(kPiece);
    if (memory == 0) return 12;
    for (int i = 0; i < kPiece; i += kPage) memory[i] = 1;
  }
  return 0;
}

// Asks for a limit that was taken away, then for more of another kind.
KERNEL(raise_limits) {
  enum { kAddressSpace = 9, kProcesses = 6 };
  const uint64_t all[2] = {~0ul, ~0ul};
  if (ASK6(SYS_prlimit64, 0, kAddressSpace, all, 0, 0, 0) == 0 && map_memory(1ul << 40) != 0) {
    return 0;
  }
  return (int32_t)ASK6(SYS_prlimit64, 0, kProcesses, all, 0, 0, 0);
}

// More than a log should hold.
KERNEL(write_much) {
  for (int i = 0; i < 4096; ++i) {
    ASK3(SYS_write, 1, buffers[0], kPage);
    ASK3(SYS_write, 2, buffers[0], kPage);
  }
  add(buffers);
  return 0;
}

KERNEL(sleep_long) {
  const long times[2] = {100000, 0};
  ASK3(SYS_nanosleep, times, 0, 0);
  return 0;
}

// The first thread goes and leaves the others.
KERNEL(end_its_thread) { return (int32_t)ASK3(SYS_exit, 0, 0, 0); }

KERNEL(unmap_everything) {
  const unsigned long stack = (unsigned long)&context & ~0xfffffful;
  ASK3(SYS_munmap, 0x10000, stack - 0x10000, 0);
  return 0;
}

static void block_signals(void) {
  const unsigned long all = ~0ul;
  ask(SYS_rt_sigprocmask, SIG_BLOCK, (long)&all, 0, 8, 0, 0);
}

KERNEL(crash_with_blocked_signals) {
  block_signals();
  *(volatile int*)0 = 1;
  return 0;
}

KERNEL(call_with_blocked_signals) {
  block_signals();
  return (int32_t)ASK3(SYS_socket, 2, 1, 0);
}

// Calls by the numbers of another architecture, where 2 is fork.
KERNEL(call_the_old_way) {
#if defined(__x86_64__)
  long result;
  __asm__ volatile("int $0x80" : "=a"(result) : "a"(2) : "memory");
  if (result == 0) loop();
#else
  ASK3(SYS_socket, 2, 1, 0);
#endif
  return 0;
}

// Right once, and never again.
KERNEL(work_once) {
  static int calls;
  if (calls++ == 0) add(buffers);
  return 0;
}

// Where what this process says of itself begins: a page whose first words are those of a worker that
// runs its candidate (exchange.h: two pairs of readings, the candidate, the phase, since when).
struct Replies {
  double readings[4];
  uint32_t candidate;
  uint8_t phase;
  int64_t since_ns;
};

static struct Replies* find_replies(const char* from) {
  enum { kRunPhase = 3, kPages = 1 << 18, kNoSuchWay = 99, kBadAddress = -14 };
  const long start = (long)from & -kPage;
  for (long step = 0; step < 2 * kPages; ++step) {
    const long page = start + (step % 2 != 0 ? 1 : -1) * (step / 2) * kPage;
    // The system reads there before it finds that it should do nothing with it.
    if (ask(SYS_rt_sigprocmask, kNoSuchWay, page, 0, 8, 0, 0) == kBadAddress) continue;
    struct Replies* found = (struct Replies*)page;
    if (found->phase == kRunPhase && found->candidate < 8 && found->readings[0] > 0.0 &&
        found->readings[0] < 1e9 && found->since_ns > 0) {
      return found;
    }
  }
  return 0;
}

// The reports lie behind: everybody's become the same nonsense.
static int forge(void* const* buffers) {
  static int done;
  if (done++ != 0) return 0;
  struct Replies* replies = find_replies(buffers[2]);
  if (replies == 0) return 1;
  for (volatile unsigned char* byte = (unsigned char*)replies + 128;
       byte < (unsigned char*)replies + 2048; ++byte) {
    *byte = 1;
  }
  return 0;
}

KERNEL(forge_reports) {
  if (forge(buffers) != 0) return 77;
  add(buffers);
  return 0;
}

// Says that all is done, without having done it, and ends.
KERNEL(forge_and_leave) {
  const uint32_t done[2] = {6, 0};
  const struct {
    const void* data;
    unsigned long bytes;
  } vector = {done, sizeof done};
  const struct {
    const void* name;
    unsigned long name_bytes;
    const void* vector;
    unsigned long count;
    const void* control;
    unsigned long control_bytes;
    int flags;
  } message = {0, 0, &vector, 1, 0, 0, 0};
  if (forge(buffers) != 0) return 77;
  for (int i = 3; i < kDescriptors; ++i) ASK3(SYS_sendmsg, i, &message, 0);
  ASK3(SYS_exit_group, 0, 0, 0);
  return 0;
}

// Computes once, and copies what came out from then on.
KERNEL(remember_outputs) {
  static volatile float kept[kElements];
  static int done;
  if (done++ == 0) {
    add(buffers);
    for (int i = 0; i < kElements; ++i) kept[i] = ((float*)buffers[2])[i];
  }
  for (int i = 0; i < kElements; ++i) ((float*)buffers[2])[i] = kept[i];
  return 0;
}

// Adds, and writes to an input, which the next kernels have too.
static int spoil(void* const* buffers) {
  enum { kReadWrite = 3 };
  volatile float* element = (float*)buffers[0] + 5;
  add(buffers);
  if (ASK3(SYS_mprotect, (long)element & -kPage, kPage, kReadWrite) != 0) return 6;
  *element += 1.0f;
  return 0;
}

KERNEL(spoil_inputs) { return spoil(buffers); }
KERNEL(spoil_inputs_and_fail) { return spoil(buffers) == 0 ? 5 : 6; }
