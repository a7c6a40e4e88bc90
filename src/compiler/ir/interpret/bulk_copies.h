// The bulk copies that are under way in a block. A counter has phases: each ends when its copy has
// arrived. Values are taken when a copy sets out and reach memory when some thread has waited for
// the end of its phase; before a barrier others do not know of that.
#pragma once

#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "compiler/ir/interpret/evaluate.h"

namespace attune::ir {

class BulkCopies {
 public:
  struct Copy {
    std::shared_ptr<Memory> memory;
    const BufferNode* buffer = nullptr;
    std::int64_t position = 0;
    std::vector<Value> values;
  };
  struct Counter {
    int number = 0;
    std::int64_t ready_phase = 0;        // of the launch, in which it was made ready
    std::vector<Copy> copies;            // that set out, by phase of the counter
    std::int64_t arrived = 0;            // phases that some thread has seen the end of
    std::vector<std::int64_t> observed;  // by thread
  };

  void begin_block(std::size_t threads);
  void make_ready(const Memory* memory, std::int64_t position, std::int64_t launch_phase);
  Counter* find(const Memory* memory, std::int64_t position);
  // Whether a thread has waited for a phase of a counter.
  bool observed(int thread, int counter, std::int64_t phase) const;
  // A counter with a copy that nobody waited for, or null.
  const Copy* unwaited() const;

 private:
  std::size_t threads_ = 0;
  std::map<std::pair<const Memory*, std::int64_t>, std::size_t> numbers_;
  std::vector<Counter> counters_;
};

}  // namespace attune::ir
