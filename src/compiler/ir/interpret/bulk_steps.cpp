// Bulk copies of a block, the counters at which threads wait for them, and clusters. All blocks of
// a cluster run the same statements, so that what one of them may do to the others shows in itself:
// it must not read, behind the last barrier of the cluster, what it has copied anew.
#include <fmt/format.h>

#include "compiler/ir/interpret/launch_runner.h"

namespace attune::ir {

void LaunchRunner::bulk(const BulkCall& call, const Work& work, const Threads& threads) {
  if (call.kind() == BulkCall::Kind::ClusterBarrier) {
    barrier(threads);
    cluster_phase_ = now_.phase;
    return;
  }
  each(threads, work, [&](Frame& frame) {
    const std::int64_t elements = call.kind() == BulkCall::Kind::Init ? call.count() : 1;
    const std::int64_t at = BulkCall::locate(call.counter(), frame, elements, "wait");
    if (at < 0) return;
    const Memory* memory = frame.memories[call.counter().slot].get();
    if (call.kind() == BulkCall::Kind::Init) {
      for (std::int64_t i = 0; i < elements; ++i) bulk_.make_ready(memory, at + i, now_.phase);
      return;
    }
    BulkCopies::Counter* counter = bulk_.find(memory, at);
    if (!counter || counter->ready_phase == now_.phase) {
      findings_.add(
          FindingKind::Uninitialised, call.counter().buffer->name,
          fmt::format("{} uses {} before it is ready for all", now_.thread_text(frame.thread),
                      element_text(*call.counter().buffer, at)));
      return;
    }
    if (call.kind() == BulkCall::Kind::Copy) return bulk_copy(call, *counter, frame);
    bulk_wait(call, *counter, frame, at);
  });
}

void LaunchRunner::bulk_copy(const BulkCall& call, BulkCopies::Counter& counter, Frame& frame) {
  const std::int64_t to = BulkCall::locate(call.to(), frame, call.count(), "store");
  const std::int64_t from =
      to < 0 ? -1 : BulkCall::locate(call.from(), frame, call.count(), "load");
  if (from < 0) return;
  const std::shared_ptr<Memory>& memory = frame.memories[call.to().slot];
  const Memory& source = *frame.memories[call.from().slot];
  BulkCopies::Copy copy{memory, call.to().buffer, to, {}};
  for (std::int64_t i = 0; i < call.count() && !failure_; ++i) {
    const auto at = static_cast<std::size_t>(from + i);
    on_read(frame, call.from(), from + i);
    if (!source.written[at]) {
      call.from().fail(frame, from + i, Fault::Uninitialised,
                       fmt::format("bulk load of '{}' at [{}] reads an element that was never "
                                   "written",
                                   call.from().buffer->name, from + i));
      return;
    }
    const Value value = source.values[at];
    const auto& e = memory->shadow->elements[static_cast<std::size_t>(to + i)];
    const bool met = counter.ready_phase < cluster_phase_ && e.read_phase < cluster_phase_;
    if (call.blocks() > 1 && !met) {
      findings_.add(
          FindingKind::MissingBarrier, call.to().buffer->name,
          fmt::format("{} copies to {} of all blocks of its cluster, which others may "
                      "still read with no barrier of the cluster between",
                      now_.thread_text(frame.thread), element_text(*call.to().buffer, to + i)));
    }
    note_copy(*memory->shadow, *call.to().buffer, to + i, frame.thread, value, true, now_,
              findings_);
    copy.values.push_back(value);
  }
  counter.copies.push_back(std::move(copy));
}

void LaunchRunner::bulk_wait(const BulkCall& call, BulkCopies::Counter& counter, Frame& frame,
                             std::int64_t at) {
  auto& observed = counter.observed[static_cast<std::size_t>(frame.thread)];
  // Of a phase that ended before, nothing new is learnt.
  if ((observed & 1) != (call.parity(frame) & 1)) return;
  if (observed == std::ssize(counter.copies)) {
    findings_.add(
        FindingKind::EndlessWait, call.counter().buffer->name,
        fmt::format("{} waits at {} for a copy that nobody made", now_.thread_text(frame.thread),
                    element_text(*call.counter().buffer, at)));
    return;
  }
  const std::int64_t phase = observed++;
  if (counter.arrived > phase) return;
  counter.arrived = phase + 1;
  const BulkCopies::Copy& copy = counter.copies[static_cast<std::size_t>(phase)];
  for (std::size_t i = 0; i < copy.values.size(); ++i) {
    const auto place = static_cast<std::size_t>(copy.position) + i;
    copy.memory->values[place] = copy.values[i];
    copy.memory->written[place] = 1;
    note_arrival(*copy.memory->shadow, static_cast<std::int64_t>(place), Shadow::kBulk, now_);
    auto& e = copy.memory->shadow->elements[place];
    e.counter = counter.number;
    e.counter_phase = phase;
  }
}

void LaunchRunner::check_observed(const Frame& frame, const Access& access, const Shadow& shadow,
                                  std::int64_t position) {
  const auto& e = shadow.elements[static_cast<std::size_t>(position)];
  if (e.write_thread != Shadow::kBulk || e.write_phase != now_.phase) return;
  if (bulk_.observed(frame.thread, e.counter, e.counter_phase)) return;
  findings_.add(
      FindingKind::PendingCopy, access.buffer->name,
      fmt::format("{} reads {}, to which a bulk copy goes that it has not waited for",
                  now_.thread_text(frame.thread), element_text(*access.buffer, position)));
}

void LaunchRunner::find_unwaited_bulk() {
  const BulkCopies::Copy* copy = bulk_.unwaited();
  if (!copy || failure_) return;
  findings_.add(FindingKind::UnwaitedCopy, copy->buffer->name,
                fmt::format("block {} ends while a bulk copy goes to {}", now_.block_text(),
                            element_text(*copy->buffer, copy->position)));
}

}  // namespace attune::ir
