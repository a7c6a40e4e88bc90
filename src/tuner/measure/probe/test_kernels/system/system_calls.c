/* Kernels are linked with nothing, so that those which misbehave bring along what they need of the
 * system: functions of the C library under their own names, each a system call. */
#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

static int last_error;
int* __errno_location(void) { return &last_error; }

static long call_system(long number, const long a[6]) {
#if defined(__x86_64__)
  register long r10 __asm__("r10") = a[3];
  register long r8 __asm__("r8") = a[4];
  register long r9 __asm__("r9") = a[5];
  long result;
  __asm__ volatile("syscall"
                   : "=a"(result)
                   : "a"(number), "D"(a[0]), "S"(a[1]), "d"(a[2]), "r"(r10), "r"(r8), "r"(r9)
                   : "rcx", "r11", "memory");
  return result;
#elif defined(__aarch64__)
  register long x8 __asm__("x8") = number;
  register long x0 __asm__("x0") = a[0];
  register long x1 __asm__("x1") = a[1];
  register long x2 __asm__("x2") = a[2];
  register long x3 __asm__("x3") = a[3];
  register long x4 __asm__("x4") = a[4];
  register long x5 __asm__("x5") = a[5];
  __asm__ volatile("svc 0"
                   : "+r"(x0)
                   : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5)
                   : "memory");
  return x0;
#endif
}

long syscall(long number, ...) {
  long a[6];
  va_list list;
  va_start(list, number);
  for (int i = 0; i < 6; ++i) a[i] = va_arg(list, long);
  va_end(list);
  const long result = call_system(number, a);
  if (result >= 0 || result < -4095) return result;
  last_error = (int)-result;
  return -1;
}

ssize_t write(int descriptor, const void* bytes, size_t count) {
  return syscall(SYS_write, (long)descriptor, bytes, count);
}

pid_t getpid(void) { return (pid_t)syscall(SYS_getpid); }
pid_t getppid(void) { return (pid_t)syscall(SYS_getppid); }
int kill(pid_t process, int signal) {
  return (int)syscall(SYS_kill, (long)process, (long)signal);
}
int raise(int signal) {
  return (int)syscall(SYS_tgkill, (long)getpid(), syscall(SYS_gettid), (long)signal);
}

void _exit(int status) {
  for (;;) syscall(SYS_exit_group, (long)status);
}
void _Exit(int status) { _exit(status); }
void abort(void) {
  raise(SIGABRT);
  _exit(127);
}

void* malloc(size_t bytes) {
  const long place = syscall(SYS_mmap, 0L, bytes, (long)(PROT_READ | PROT_WRITE),
                             (long)(MAP_PRIVATE | MAP_ANONYMOUS), -1L, 0L);
  return place == -1 ? NULL : (void*)place;
}
