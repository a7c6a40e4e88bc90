#include "compiler/ir/interpret/bulk_copies.h"

namespace attune::ir {

void BulkCopies::begin_block(std::size_t threads) {
  threads_ = threads;
  numbers_.clear();
  counters_.clear();
}

void BulkCopies::make_ready(const Memory* memory, std::int64_t position,
                            std::int64_t launch_phase) {
  const auto number = counters_.size();
  numbers_[{memory, position}] = number;
  counters_.push_back(
      {static_cast<int>(number), launch_phase, {}, 0, std::vector<std::int64_t>(threads_, 0)});
}

BulkCopies::Counter* BulkCopies::find(const Memory* memory, std::int64_t position) {
  const auto found = numbers_.find({memory, position});
  return found == numbers_.end() ? nullptr : &counters_[found->second];
}

bool BulkCopies::observed(int thread, int counter, std::int64_t phase) const {
  return counters_[static_cast<std::size_t>(counter)].observed[static_cast<std::size_t>(thread)] >
         phase;
}

const BulkCopies::Copy* BulkCopies::unwaited() const {
  for (const Counter& counter : counters_) {
    if (counter.arrived < std::ssize(counter.copies)) {
      return &counter.copies[static_cast<std::size_t>(counter.arrived)];
    }
  }
  return nullptr;
}

}  // namespace attune::ir
