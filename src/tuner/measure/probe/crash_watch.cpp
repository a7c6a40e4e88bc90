#include "tuner/measure/probe/crash_watch.h"

#include <fmt/format.h>
#include <signal.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include <atomic>
#include <cstring>

#include "base/cage/system_calls.h"

namespace attune::probe {
namespace {

constexpr int kSignals[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGTRAP, SIGSYS};

// A signal handler has no other way to reach its data than through the process.
struct Watched {
  std::atomic<Fault*> fault{nullptr};
  const WatchedBuffer* buffers = nullptr;
  std::size_t count = 0;
};
Watched g_watched;

bool is_write_fault(const void* context) {
#if defined(__x86_64__)
  constexpr greg_t kWriteBit = 2;
  const auto* machine = static_cast<const ucontext_t*>(context);
  return (machine->uc_mcontext.gregs[REG_ERR] & kWriteBit) != 0;
#else
  static_cast<void>(context);
  return false;
#endif
}

void note_fault(int signal, siginfo_t* info, void* context) {
  Fault* fault = g_watched.fault.load();
  if (fault != nullptr) {
    fault->signal = signal;
    if (signal == SIGSYS) fault->call = info->si_syscall;
    if (signal == SIGSEGV || signal == SIGBUS) {
      // Accesses to non-canonical addresses are reported without an address.
      fault->has_address = info->si_code != SI_KERNEL;
      fault->address = reinterpret_cast<std::uintptr_t>(info->si_addr);
      fault->write = is_write_fault(context);
      for (std::size_t i = 0; i < g_watched.count && fault->has_address; ++i) {
        const Place place = g_watched.buffers[i].memory->place_of(fault->address);
        if (place == Place::Elsewhere) continue;
        fault->place = place;
        fault->buffer = g_watched.buffers[i].number;
      }
    }
  }
  _exit(kFaultExitStatus);
}

const char* name_of(int signal) {
  switch (signal) {
    case SIGSEGV:
      return "segmentation fault";
    case SIGBUS:
      return "bus error";
    case SIGILL:
      return "illegal instruction";
    case SIGFPE:
      return "arithmetic fault";
    case SIGABRT:
      return "abort";
    default:
      return "fatal signal";
  }
}

std::string buffer_name(int number) {
  return number == kWorkspaceBuffer ? "the workspace" : fmt::format("buffer {}", number);
}

}  // namespace

void install_crash_watch() {
  // A stack of its own, so that a kernel that overflows the stack is noted too.
  constexpr std::size_t kStackBytes = 64 * 1024;
  void* stack =
      mmap(nullptr, kStackBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (stack != MAP_FAILED) {
    stack_t alternate = {};
    alternate.ss_sp = stack;
    alternate.ss_size = kStackBytes;
    sigaltstack(&alternate, nullptr);
  }
  struct sigaction action = {};
  action.sa_sigaction = note_fault;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  sigfillset(&action.sa_mask);
  for (int signal : kSignals) sigaction(signal, &action, nullptr);
}

void watch(Fault* fault, std::span<const WatchedBuffer> buffers) {
  g_watched.fault = nullptr;
  g_watched.buffers = buffers.data();
  g_watched.count = buffers.size();
  g_watched.fault = fault;
}

std::string describe_fault(const Fault& fault) {
  if (fault.signal == SIGSYS) {
    return fmt::format("called {}, which kernels may not", call_name(fault.call));
  }
  std::string text = fmt::format("{} (signal {})", name_of(fault.signal), fault.signal);
  const char* verb = fault.write ? "wrote" : "read";
  if (fault.place == Place::Inside) {
    text += fmt::format(", {} {}, which is read-only", verb, buffer_name(fault.buffer));
  } else if (fault.place != Place::Elsewhere) {
    text += fmt::format(", {} {} of {}", verb,
                        fault.place == Place::Before ? "before the start" : "past the end",
                        buffer_name(fault.buffer));
  } else if (fault.has_address) {
    text += fmt::format(", {} address {:#x}", verb, fault.address);
  }
  return text;
}

}  // namespace attune::probe
