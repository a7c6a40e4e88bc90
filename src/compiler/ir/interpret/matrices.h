// The instructions of warpgroups that are under way in a block: for each warpgroup an open group
// and closed ones that end in order, with what they may still read and write. Registers are known
// by the memory that they are in, whole.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "compiler/ir/interpret/evaluate.h"

namespace attune::ir {

inline constexpr int kWarpgroup = 128;  // threads

class Matrices {
 public:
  struct Read {
    std::shared_ptr<Memory> memory;
    const BufferNode* buffer;
    std::int64_t position;
  };
  struct Group {
    std::vector<Read> reads;
    std::vector<std::pair<int, const Memory*>> results;  // thread and registers
    bool empty() const { return reads.empty() && results.empty(); }
  };

  // Only of kernels with such instructions is anything remembered.
  void watch(bool any) { any_ = any; }
  void begin_block(std::size_t threads);

  Group& open(int warpgroup) { return of(warpgroup).open; }
  // Registers of a thread that an instruction of the open group writes.
  void add_result(int warpgroup, int thread, const Memory* registers);
  void commit(int warpgroup);
  // The groups that are done when a warpgroup waits for all but its newest ones, as one.
  Group wait(int warpgroup, std::int64_t groups);
  // Whether instructions are under way that nobody waited for.
  bool unwaited(int warpgroup) const;

  bool is_pending(int thread, const Memory* registers) const;
  // Registers that a thread wrote since its last fence.
  void wrote(int thread, const Memory* registers);
  bool is_unfenced(int thread, const Memory* registers) const;
  void fence_registers(int thread) { thread_of(thread).written.clear(); }

  // How many fences of shared memory a thread has called, and when the one of a number was.
  std::int32_t fences(int thread) const;
  bool fenced_before(int thread, std::int32_t number, std::int64_t phase) const;
  void fence_shared(int thread, std::int64_t phase) { thread_of(thread).fences.push_back(phase); }

 private:
  struct Warpgroup {
    Group open;
    std::deque<Group> closed;
  };
  struct Thread {
    std::vector<const Memory*> written, pending;
    std::vector<std::int64_t> fences;  // phases
  };
  Warpgroup& of(int warpgroup) { return warpgroups_[static_cast<std::size_t>(warpgroup)]; }
  Thread& thread_of(int thread) { return threads_[static_cast<std::size_t>(thread)]; }

  std::vector<Warpgroup> warpgroups_;
  std::vector<Thread> threads_;
  bool any_ = false;
};

}  // namespace attune::ir
