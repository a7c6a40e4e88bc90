#include "compiler/ir/interpret/async_copies.h"

#include <iterator>
#include <utility>

namespace attune::ir {

void AsyncCopies::commit(int thread) {
  of(thread).closed.push_back(std::exchange(of(thread).open, {}));
}

AsyncCopies::Group AsyncCopies::wait(int thread, std::int64_t groups) {
  Group arrived;
  auto& closed = of(thread).closed;
  for (; std::ssize(closed) > groups; closed.pop_front()) {
    arrived.insert(arrived.end(), std::make_move_iterator(closed.front().begin()),
                   std::make_move_iterator(closed.front().end()));
  }
  return arrived;
}

const AsyncCopies::Copy* AsyncCopies::unwaited(int thread) const {
  const Thread& at = threads_[static_cast<std::size_t>(thread)];
  for (const Group& group : at.closed) {
    if (!group.empty()) return &group.front();
  }
  return at.open.empty() ? nullptr : &at.open.front();
}

}  // namespace attune::ir
