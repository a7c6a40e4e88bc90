#include <fmt/format.h>

#include "compiler/ir/interpret/launch_runner.h"

namespace attune::ir {

void LaunchRunner::touch(const Access& access, std::int64_t position, bool write) {
  if (!options_.meter) return;
  std::size_t i = 0;
  while (i < touched_count_ && touched_by_[i] != &access) ++i;
  if (i == touched_count_) {
    if (i == touched_.size()) {
      touched_.emplace_back();
      touched_by_.emplace_back();
    }
    touched_by_[i] = &access;
    touched_[i].buffer = access.buffer;
    touched_[i].write = write;
    touched_[i].asynchronous = asynchronous_;
    touched_[i].positions.clear();
    ++touched_count_;
  }
  touched_[i].positions.push_back(position);
}

void LaunchRunner::on_read(Frame& frame, const Access& access, std::int64_t position) {
  touch(access, position, false);
  check_registers(frame, access, "reads");
  if (Shadow* shadow = frame.memories[access.slot]->shadow.get()) {
    check_observed(frame, access, *shadow, position);
    note_read(*shadow, *access.buffer, position, frame.thread, now_, findings_);
  }
}

void LaunchRunner::on_write(Frame& frame, const Access& access, std::int64_t position,
                            Value value) {
  touch(access, position, true);
  check_registers(frame, access, "writes");
  const Memory& memory = *frame.memories[access.slot];
  if (!memory.shadow) return matrices_.wrote(frame.thread, &memory);
  const bool changes = memory.values[static_cast<std::size_t>(position)].i != value.i;
  note_write(*memory.shadow, *access.buffer, position, frame.thread, changes, now_, findings_);
  note_fences(memory, position, frame.thread);
}

void LaunchRunner::on_fault(Frame& frame, const Access& access, std::int64_t position, Fault fault,
                            const std::string& message) {
  const std::string& name = access.buffer->name;
  const std::string where = ", by " + now_.thread_text(frame.thread);
  if (fault == Fault::OutOfBounds) {
    return findings_.add(FindingKind::OutOfBounds, name, message + where);
  }
  if (fault == Fault::Misaligned) {
    return findings_.add(FindingKind::Misaligned, name, message + where);
  }
  if (fault == Fault::Divergent) {
    return findings_.add(FindingKind::DivergentWarp, name, message + where);
  }
  // Did another thread write it, in memory of its own?
  const bool own = access.buffer->scope != Scope::Global && access.buffer->scope != Scope::Shared;
  for (const Frame& other : frames_) {
    const auto& memory = other.memories[access.slot];
    if (!own || !memory || memory == frame.memories[access.slot]) continue;
    if (!memory->written[static_cast<std::size_t>(position)]) continue;
    return findings_.add(
        FindingKind::OutOfScope, name,
        fmt::format("{} reads {}, which {} wrote in memory of its own",
                    now_.thread_text(frame.thread), element_text(*access.buffer, position),
                    now_.thread_text(other.thread)));
  }
  findings_.add(FindingKind::Uninitialised, name, message + where);
}

}  // namespace attune::ir
