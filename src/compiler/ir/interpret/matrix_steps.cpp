// Instructions that warpgroups run: who takes part, what they may still read and write, and what
// they were not given in time.
#include <fmt/format.h>

#include "compiler/ir/interpret/launch_runner.h"

namespace attune::ir {

void LaunchRunner::each_warpgroup(
    const Threads& threads, std::string_view name,
    const std::function<void(int, const std::vector<Frame*>&)>& run_one) {
  steps_ += std::ssize(threads);
  for (std::size_t i = 0; i < threads.size() && !failure_;) {
    const int warpgroup = threads[i] / kWarpgroup;
    int missing = warpgroup * kWarpgroup;
    std::vector<Frame*> lanes;
    for (; i < threads.size() && threads[i] / kWarpgroup == warpgroup; ++i) {
      missing += threads[i] == missing ? 1 : 0;
      lanes.push_back(&frames_[static_cast<std::size_t>(threads[i])]);
    }
    if (std::ssize(lanes) == kWarpgroup) {
      run_one(warpgroup, lanes);
      continue;
    }
    findings_.add(FindingKind::DivergentWarp, "",
                  fmt::format("{} does not take part in '{}' of its warpgroup, which has {} lanes "
                              "there",
                              now_.thread_text(missing), name, lanes.size()));
  }
}

// Registers and shared memory that were written must be fenced before an instruction takes them.
void LaunchRunner::check_ready(const MatrixCall& call, const std::vector<Frame*>& lanes,
                               const std::vector<MatrixCall::Read>& reads) {
  const Access& result = call.result();
  for (const Frame* lane : lanes) {
    const Memory* registers = lane->memories[result.slot].get();
    if (!matrices_.is_unfenced(lane->thread, registers)) continue;
    findings_.add(FindingKind::MissingFence, result.buffer->name,
                  fmt::format("{} adds by '{}' to '{}', which it wrote with no '{}' since",
                              now_.thread_text(lane->thread), call.name(), result.buffer->name,
                              "matrix_fence"));
  }
  for (const MatrixCall::Read& read : reads) {
    const Memory& memory = *lanes[0]->memories[read.access->slot];
    const auto& e = memory.shadow->elements[static_cast<std::size_t>(read.position)];
    // What bulk copies brought needs no fence.
    if (e.write_thread < 0 || matrices_.fenced_before(e.write_thread, e.fences, now_.phase)) {
      continue;
    }
    findings_.add(FindingKind::MissingFence, read.access->buffer->name,
                  fmt::format("'{}' reads {}, which {} wrote with no 'shared_fence' and barrier "
                              "since",
                              call.name(), element_text(*read.access->buffer, read.position),
                              now_.thread_text(e.write_thread)));
  }
}

void LaunchRunner::by_warpgroups(const MatrixCall& call, const Work& work, const Threads& threads) {
  each_warpgroup(threads, call.name(), [&](int warpgroup, const std::vector<Frame*>& lanes) {
    touched_count_ = 0;
    std::vector<MatrixCall::Read> reads;
    call.run(lanes, reads);
    if (failure_) return;
    check_ready(call, lanes, reads);
    for (const MatrixCall::Read& read : reads) {
      const std::shared_ptr<Memory>& memory = lanes[0]->memories[read.access->slot];
      ++memory->shadow->elements[static_cast<std::size_t>(read.position)].matrices;
      matrices_.open(warpgroup).reads.push_back({memory, read.access->buffer, read.position});
    }
    for (const Frame* lane : lanes) {
      matrices_.add_result(warpgroup, lane->thread, lane->memories[call.result().slot].get());
    }
    for (int warp = 0; options_.meter && warp < kWarpgroup / options_.warp; ++warp) {
      options_.meter->step(warpgroup * (kWarpgroup / options_.warp) + warp, work, {},
                           call.cycles());
    }
  });
}

void LaunchRunner::order_matrices(const AsyncCall& call, const Work&, const Threads& threads) {
  const bool fence = call.kind() == AsyncCall::Kind::MatrixFence;
  const bool commit = call.kind() == AsyncCall::Kind::MatrixCommit;
  const char* const name = fence ? "matrix_fence" : commit ? "matrix_commit" : "matrix_wait";
  each_warpgroup(threads, name, [&](int warpgroup, const std::vector<Frame*>& lanes) {
    if (fence) {
      for (const Frame* lane : lanes) matrices_.fence_registers(lane->thread);
      return;
    }
    if (commit) return matrices_.commit(warpgroup);
    // What was read until now is read in this phase.
    for (const Matrices::Read& read : matrices_.wait(warpgroup, call.groups()).reads) {
      --read.memory->shadow->elements[static_cast<std::size_t>(read.position)].matrices;
      for (const Frame* lane : {lanes.front(), lanes.back()}) {
        note_read(*read.memory->shadow, *read.buffer, read.position, lane->thread, now_, findings_);
      }
    }
  });
}

void LaunchRunner::on_fence(Frame& frame) { matrices_.fence_shared(frame.thread, now_.phase); }

void LaunchRunner::note_fences(const Memory& memory, std::int64_t position, int thread) {
  memory.shadow->elements[static_cast<std::size_t>(position)].fences = matrices_.fences(thread);
}

void LaunchRunner::check_registers(Frame& frame, const Access& access, const char* does) {
  if (!matrices_.is_pending(frame.thread, frame.memories[access.slot].get())) return;
  findings_.add(FindingKind::PendingMatrix, access.buffer->name,
                fmt::format("{} {} '{}', to which an instruction of its warpgroup adds without "
                            "having been waited for",
                            now_.thread_text(frame.thread), does, access.buffer->name));
}

void LaunchRunner::find_unwaited_matrices() {
  for (int warpgroup = 0; warpgroup * kWarpgroup < std::ssize(frames_) && !failure_; ++warpgroup) {
    if (!matrices_.unwaited(warpgroup)) continue;
    findings_.add(FindingKind::UnwaitedMatrix, "",
                  fmt::format("{} ends while instructions of its warpgroup are under way",
                              now_.thread_text(warpgroup * kWarpgroup)));
  }
}

}  // namespace attune::ir
