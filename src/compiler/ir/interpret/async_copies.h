// The asynchronous copies that are under way in a block: for each thread an open group, and closed
// ones that arrive in order. Values are taken when a copy sets out and reach memory when their
// thread waits for them, so that whoever looks too early does not see them.
#pragma once

#include <deque>
#include <memory>
#include <vector>

#include "compiler/ir/interpret/evaluate.h"

namespace attune::ir {

class AsyncCopies {
 public:
  struct Copy {
    std::shared_ptr<Memory> memory;
    const BufferNode* buffer;
    std::int64_t position;
    Value value;
  };
  using Group = std::vector<Copy>;

  void begin_block(std::size_t threads) { threads_.assign(threads, {}); }
  void add(int thread, Copy copy) { of(thread).open.push_back(std::move(copy)); }
  void commit(int thread);
  // The copies that arrive when a thread waits for all but its newest groups, in order.
  Group wait(int thread, std::int64_t groups);
  // A copy of a thread that nobody waited for, or null.
  const Copy* unwaited(int thread) const;

 private:
  struct Thread {
    Group open;
    std::deque<Group> closed;
  };
  Thread& of(int thread) { return threads_[static_cast<std::size_t>(thread)]; }

  std::vector<Thread> threads_;
};

}  // namespace attune::ir
