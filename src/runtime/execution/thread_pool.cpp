// Each worker has a mailbox on its own cache line that holds the whole job (task and range) and a
// ticket; the caller fills it and advances the ticket, which moves one line to the worker. The
// worker answers by writing the ticket to a line of its own. Both sides spin first and then sleep
// in futex(2); the sleeper announces itself before it looks at the ticket a last time, and the
// other side writes the ticket before it looks for sleepers, all sequentially consistent, so that
// one of the two always sees the other.
#include "runtime/execution/thread_pool.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <climits>
#include <mutex>
#include <set>
#include <thread>

#include "base/check.h"
#include "runtime/execution/affinity.h"

namespace attune::runtime {
namespace {

using Ticket = std::uint32_t;

// The worker number of a thread that is inside a task, or -1.
thread_local std::int32_t t_current_worker = -1;

void relax() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield" ::: "memory");
#endif
}

void futex_wait(std::atomic<Ticket>& word, Ticket expected) {
  syscall(SYS_futex, reinterpret_cast<Ticket*>(&word), FUTEX_WAIT_PRIVATE, expected, nullptr,
          nullptr, 0);
}

void futex_wake(std::atomic<Ticket>& word) {
  syscall(SYS_futex, reinterpret_cast<Ticket*>(&word), FUTEX_WAKE_PRIVATE, INT_MAX, nullptr,
          nullptr, 0);
}

// A ticket that one thread advances and another awaits.
struct Signal {
  std::atomic<Ticket> ticket{0};
  std::atomic<std::uint32_t> sleeping{0};

  void advance_to(Ticket value) {
    ticket.store(value, std::memory_order_seq_cst);
    if (sleeping.load(std::memory_order_seq_cst) != 0) futex_wake(ticket);
  }

  // Returns when the ticket is no longer `old`.
  void await_change(Ticket old, std::chrono::nanoseconds spin) {
    constexpr int kSpinsPerClockRead = 32;
    if (spin.count() > 0) {
      const auto start = std::chrono::steady_clock::now();
      do {
        for (int i = 0; i < kSpinsPerClockRead; ++i) {
          if (ticket.load(std::memory_order_acquire) != old) return;
          relax();
        }
      } while (std::chrono::steady_clock::now() - start < spin);
    }
    sleeping.store(1, std::memory_order_seq_cst);
    while (ticket.load(std::memory_order_seq_cst) == old) futex_wait(ticket, old);
    sleeping.store(0, std::memory_order_seq_cst);
  }
};

void run_piece(AttuneTask task, void* closure, std::int64_t begin, std::int64_t end,
               std::int32_t worker) {
  const std::int32_t outer = t_current_worker;
  t_current_worker = worker;
  task(closure, begin, end, worker);
  t_current_worker = outer;
}

// First iteration of piece `part` of `parts`, without overflow for any count.
std::int64_t piece_begin(std::int64_t count, std::int64_t parts, std::int64_t part) {
  return (count / parts) * part + std::min(count % parts, part);
}

}  // namespace

struct ThreadPool::Worker {
  // Written by the caller.
  struct alignas(64) Mailbox {
    Signal posted;
    AttuneTask task = nullptr;  // null: stop
    void* closure = nullptr;
    std::int64_t begin = 0;
    std::int64_t end = 0;
  };
  // Written by the worker.
  struct alignas(64) Answer {
    Signal done;
  };

  Mailbox mailbox;
  Answer answer;
  Ticket ticket = 0;  // the last one posted, known to the caller
  std::thread thread;

  void post(AttuneTask task, void* closure, std::int64_t begin, std::int64_t end) {
    mailbox.task = task;
    mailbox.closure = closure;
    mailbox.begin = begin;
    mailbox.end = end;
    mailbox.posted.advance_to(++ticket);
  }

  void serve(std::int32_t number, std::chrono::nanoseconds spin) {
    for (Ticket seen = 0;;) {
      mailbox.posted.await_change(seen, spin);
      ++seen;
      if (mailbox.task == nullptr) return;
      run_piece(mailbox.task, mailbox.closure, mailbox.begin, mailbox.end, number);
      answer.done.advance_to(seen);
    }
  }
};

struct ThreadPool::Shared {
  std::mutex mutex;  // held by the thread whose loop is running
  std::chrono::nanoseconds spin{0};
};

ThreadPool::ThreadPool(const ThreadPoolOptions& options)
    : workers_(options.workers), shared_(std::make_unique<Shared>()) {
  CHECK(workers_ >= 1, "a thread pool needs at least one worker");
  const std::vector<int> usable = allowed_cores();
  const std::size_t cores = options.cores.empty()
                                ? usable.size()
                                : std::set<int>(options.cores.begin(), options.cores.end()).size();
  if (static_cast<std::size_t>(workers_) <= cores) {
    shared_->spin = std::chrono::nanoseconds(static_cast<std::int64_t>(options.spin_us * 1e3));
  }
  start_workers(options);
  // So that each is on its core when this returns, and asks the system for nothing but to wait.
  parallel_for(
      workers_, [](void*, std::int64_t, std::int64_t, std::int32_t) {}, nullptr);
}

void ThreadPool::start_workers(const ThreadPoolOptions& options) {
  for (int i = 1; i < workers_; ++i) {
    others_.push_back(std::make_unique<Worker>());
    Worker* worker = others_.back().get();
    const int core = options.cores.empty()
                         ? -1
                         : options.cores[static_cast<std::size_t>(i) % options.cores.size()];
    worker->thread = std::thread([worker, i, core, spin = shared_->spin] {
      // A core that this process may not use only costs speed: run unpinned then.
      if (core >= 0) static_cast<void>(pin_current_thread(core).ok());
      worker->serve(i, spin);
    });
  }
}

ThreadPool::~ThreadPool() {
  for (auto& worker : others_) worker->post(nullptr, nullptr, 0, 0);
  for (auto& worker : others_) worker->thread.join();
}

void ThreadPool::parallel_for(std::int64_t count, AttuneTask task, void* closure) {
  if (count <= 0) return;
  if (t_current_worker >= 0) return task(closure, 0, count, t_current_worker);
  const std::int64_t parts = std::min<std::int64_t>(workers_, count);
  if (parts == 1) return run_piece(task, closure, 0, count, 0);

  const std::lock_guard<std::mutex> lock(shared_->mutex);
  for (std::int64_t part = 1; part < parts; ++part) {
    others_[static_cast<std::size_t>(part) - 1]->post(
        task, closure, piece_begin(count, parts, part), piece_begin(count, parts, part + 1));
  }
  run_piece(task, closure, 0, piece_begin(count, parts, 1), 0);
  for (std::int64_t part = 1; part < parts; ++part) {
    Worker& worker = *others_[static_cast<std::size_t>(part) - 1];
    worker.answer.done.await_change(worker.ticket - 1, shared_->spin);
  }
}

AttuneKernelContext ThreadPool::context(void* workspace) {
  return {.pool = this,
          .parallel_for =
              [](void* pool, std::int64_t count, AttuneTask task, void* closure) {
                static_cast<ThreadPool*>(pool)->parallel_for(count, task, closure);
              },
          .workspace = workspace,
          .workers = workers_};
}

}  // namespace attune::runtime
