// Asynchronous copies of the threads of a block: who issued them, when they arrive, and which of
// them nobody waited for.
#include <fmt/format.h>

#include "compiler/ir/interpret/launch_runner.h"

namespace attune::ir {

void LaunchRunner::asynchronous(const AsyncCall& call, const Work& work, const Threads& threads) {
  asynchronous_ = true;
  each(threads, work, [&](Frame& frame) { call.run(frame); });
  asynchronous_ = false;
  const bool counted =
      call.kind() == AsyncCall::Kind::Commit || call.kind() == AsyncCall::Kind::Wait;
  if (!options_.meter || !counted) return;
  int last = -1;
  for (int t : threads) {
    const int warp = t / options_.warp;
    if (warp == last) continue;
    last = warp;
    if (call.kind() == AsyncCall::Kind::Commit) {
      options_.meter->commit(warp);
    } else {
      options_.meter->wait(warp, call.groups());
    }
  }
}

void LaunchRunner::on_copy(Frame& frame, const Access& access, std::int64_t position, Value value) {
  touch(access, position, true);
  const std::shared_ptr<Memory>& memory = frame.memories[access.slot];
  const bool changes = memory->values[static_cast<std::size_t>(position)].i != value.i;
  note_copy(*memory->shadow, *access.buffer, position, frame.thread, value, changes, now_,
            findings_);
  copies_.add(frame.thread, {memory, access.buffer, position, value});
}

void LaunchRunner::on_commit(Frame& frame) { copies_.commit(frame.thread); }

void LaunchRunner::on_wait(Frame& frame, std::int64_t groups) {
  for (const AsyncCopies::Copy& copy : copies_.wait(frame.thread, groups)) {
    const auto at = static_cast<std::size_t>(copy.position);
    copy.memory->values[at] = copy.value;
    copy.memory->written[at] = 1;
    note_arrival(*copy.memory->shadow, copy.position, frame.thread, now_);
    note_fences(*copy.memory, copy.position, frame.thread);
  }
}

void LaunchRunner::find_unwaited() {
  for (std::size_t t = 0; t < frames_.size() && !failure_; ++t) {
    const AsyncCopies::Copy* copy = copies_.unwaited(static_cast<int>(t));
    if (!copy) continue;
    findings_.add(
        FindingKind::UnwaitedCopy, copy->buffer->name,
        fmt::format("{} ends while it copies to {}", now_.thread_text(static_cast<std::int64_t>(t)),
                    element_text(*copy->buffer, copy->position)));
  }
}

}  // namespace attune::ir
