#include "compiler/ir/interpret/matrices.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace attune::ir {
namespace {

bool holds(const std::vector<const Memory*>& list, const Memory* registers) {
  return std::find(list.begin(), list.end(), registers) != list.end();
}

}  // namespace

void Matrices::begin_block(std::size_t threads) {
  warpgroups_.assign((threads + kWarpgroup - 1) / kWarpgroup, {});
  threads_.assign(threads, {});
}

void Matrices::add_result(int warpgroup, int thread, const Memory* registers) {
  of(warpgroup).open.results.emplace_back(thread, registers);
  thread_of(thread).pending.push_back(registers);
}

void Matrices::commit(int warpgroup) {
  of(warpgroup).closed.push_back(std::exchange(of(warpgroup).open, {}));
}

Matrices::Group Matrices::wait(int warpgroup, std::int64_t groups) {
  Group done;
  auto& closed = of(warpgroup).closed;
  for (; std::ssize(closed) > groups; closed.pop_front()) {
    Group& group = closed.front();
    std::move(group.reads.begin(), group.reads.end(), std::back_inserter(done.reads));
    for (const auto& [thread, registers] : group.results) {
      auto& pending = thread_of(thread).pending;
      const auto found = std::find(pending.begin(), pending.end(), registers);
      if (found != pending.end()) pending.erase(found);
    }
  }
  return done;
}

bool Matrices::unwaited(int warpgroup) const {
  const Warpgroup& at = warpgroups_[static_cast<std::size_t>(warpgroup)];
  return !at.open.empty() || std::any_of(at.closed.begin(), at.closed.end(),
                                         [](const Group& group) { return !group.empty(); });
}

bool Matrices::is_pending(int thread, const Memory* registers) const {
  return holds(threads_[static_cast<std::size_t>(thread)].pending, registers);
}

void Matrices::wrote(int thread, const Memory* registers) {
  if (!any_) return;
  auto& written = thread_of(thread).written;
  if (!holds(written, registers)) written.push_back(registers);
}

std::int32_t Matrices::fences(int thread) const {
  return static_cast<std::int32_t>(threads_[static_cast<std::size_t>(thread)].fences.size());
}

bool Matrices::fenced_before(int thread, std::int32_t number, std::int64_t phase) const {
  return number < fences(thread) &&
         threads_[static_cast<std::size_t>(thread)].fences[static_cast<std::size_t>(number)] <
             phase;
}

bool Matrices::is_unfenced(int thread, const Memory* registers) const {
  return holds(threads_[static_cast<std::size_t>(thread)].written, registers);
}

}  // namespace attune::ir
