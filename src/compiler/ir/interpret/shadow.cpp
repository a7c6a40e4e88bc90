#include "compiler/ir/interpret/shadow.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace attune::ir {
namespace {

std::string coordinates(std::int64_t number, const Extents3& extents) {
  return fmt::format("({}, {}, {})", number % extents[0], number / extents[0] % extents[1],
                     number / extents[0] / extents[1]);
}

// Memory that belongs to one block, or to one thread of it.
bool in_scope(Shadow& shadow, const BufferNode& buffer, std::int64_t position, int thread,
              const Moment& now, Findings& findings) {
  if (buffer.scope == Scope::Global) return true;
  if (shadow.owner_block < 0) {
    shadow.owner_block = now.block;
    shadow.owner_thread = thread;
  }
  const bool own_block = shadow.owner_block == now.block;
  if (own_block && (buffer.scope == Scope::Shared || shadow.owner_thread == thread)) return true;
  Moment owner = now;
  owner.block = shadow.owner_block;
  findings.add(FindingKind::OutOfScope, buffer.name,
               fmt::format("{} accesses {}, which is {} memory of {}", now.thread_text(thread),
                           element_text(buffer, position),
                           buffer.scope == Scope::Shared ? "shared" : "private",
                           buffer.scope == Scope::Shared ? "block " + owner.block_text()
                                                         : owner.thread_text(shadow.owner_thread)));
  return false;
}

void add_block_race(const BufferNode& buffer, std::int64_t position, int thread,
                    std::int64_t other_block, const char* does, const char* did, const Moment& now,
                    Findings& findings) {
  if (findings.has(FindingKind::BlockRace, buffer.name)) return;
  Moment other = now;
  other.block = other_block;
  findings.add(
      FindingKind::BlockRace, buffer.name,
      fmt::format("{} {} {}, which block {} {} in the same launch", now.thread_text(thread), does,
                  element_text(buffer, position), other.block_text(), did));
}

void add_missing_barrier(const BufferNode& buffer, std::int64_t position, int thread,
                         std::int64_t other, const char* does, const char* did, const Moment& now,
                         Findings& findings) {
  if (findings.has(FindingKind::MissingBarrier, buffer.name)) return;
  findings.add(
      FindingKind::MissingBarrier, buffer.name,
      fmt::format("{} {} {}, which thread {} {} with no barrier between", now.thread_text(thread),
                  does, element_text(buffer, position), coordinates(other, now.threads), did));
}

void check_pending(const Shadow::Element& e, const BufferNode& buffer, std::int64_t position,
                   int thread, const char* does, const Moment& now, Findings& findings) {
  if (e.copies == 0 || findings.has(FindingKind::PendingCopy, buffer.name)) return;
  findings.add(FindingKind::PendingCopy, buffer.name,
               fmt::format("{} {} {}, to which thread {} copies without having waited",
                           now.thread_text(thread), does, element_text(buffer, position),
                           coordinates(e.copier, now.threads)));
}

void check_matrices(const Shadow::Element& e, const BufferNode& buffer, std::int64_t position,
                    int thread, const char* does, const Moment& now, Findings& findings) {
  if (e.matrices == 0 || findings.has(FindingKind::PendingMatrix, buffer.name)) return;
  findings.add(FindingKind::PendingMatrix, buffer.name,
               fmt::format("{} {} {}, which an instruction of a warpgroup may still read",
                           now.thread_text(thread), does, element_text(buffer, position)));
}

}  // namespace

std::string Moment::block_text() const { return coordinates(block, grid); }

std::string Moment::thread_text(std::int64_t thread) const {
  return fmt::format("thread {} of block {}", coordinates(thread, threads), block_text());
}

std::string element_text(const BufferNode& buffer, std::int64_t position) {
  std::vector<std::int64_t> index(buffer.shape.size());
  for (std::size_t d = index.size(); d-- > 0;) {
    index[d] = position % buffer.shape[d];
    position /= buffer.shape[d];
  }
  return fmt::format("'{}' at [{}]", buffer.name, fmt::join(index, ", "));
}

void note_read(Shadow& shadow, const BufferNode& buffer, std::int64_t position, int thread,
               const Moment& now, Findings& findings) {
  if (!in_scope(shadow, buffer, position, thread, now, findings)) return;
  auto& e = shadow.elements[static_cast<std::size_t>(position)];
  check_pending(e, buffer, position, thread, "reads", now, findings);
  if (e.write_phase >= now.launch_phase && e.write_block != now.block) {
    add_block_race(buffer, position, thread, e.write_block, "reads", "wrote", now, findings);
  } else if (e.write_phase == now.phase && e.write_thread != thread &&
             e.write_thread != Shadow::kBulk) {
    add_missing_barrier(buffer, position, thread, e.write_thread, "reads", "wrote", now, findings);
  }
  if (e.read_phase < now.launch_phase) {
    e.other_block = -1;
  } else if (e.read_block != now.block) {
    e.other_block = e.read_block;
  }
  if (e.read_phase != now.phase) {
    e.other_thread = -1;
  } else if (e.read_thread != thread) {
    e.other_thread = e.read_thread;
  }
  e.read_phase = now.phase;
  e.read_block = now.block;
  e.read_thread = thread;
}

namespace {

// A write against what is known of its element.
void compare_write(Shadow& shadow, const BufferNode& buffer, std::int64_t position, int thread,
                   bool changes, const Moment& now, Findings& findings) {
  auto& e = shadow.elements[static_cast<std::size_t>(position)];
  check_matrices(e, buffer, position, thread, "writes", now, findings);
  const std::int64_t block = e.read_block != now.block ? e.read_block : e.other_block;
  const std::int32_t reader = e.read_thread != thread ? e.read_thread : e.other_thread;
  if (e.read_phase >= now.launch_phase && block >= 0) {
    add_block_race(buffer, position, thread, block, "writes", "read", now, findings);
  } else if (e.write_phase >= now.launch_phase && e.write_block != now.block) {
    if (changes) {
      add_block_race(buffer, position, thread, e.write_block, "writes", "wrote", now, findings);
    }
  } else if (e.read_phase == now.phase && reader >= 0) {
    add_missing_barrier(buffer, position, thread, reader, "writes", "read", now, findings);
  } else if (e.write_phase == now.phase && e.write_thread != thread && changes &&
             e.write_thread != Shadow::kBulk &&
             !findings.has(FindingKind::WriteRace, buffer.name)) {
    findings.add(FindingKind::WriteRace, buffer.name,
                 fmt::format("{} writes {}, to which thread {} wrote another value with no barrier "
                             "between",
                             now.thread_text(thread), element_text(buffer, position),
                             coordinates(e.write_thread, now.threads)));
  }
  e.write_phase = now.phase;
  e.write_block = now.block;
  e.write_thread = thread;
}

}  // namespace

void note_write(Shadow& shadow, const BufferNode& buffer, std::int64_t position, int thread,
                bool changes, const Moment& now, Findings& findings) {
  if (!in_scope(shadow, buffer, position, thread, now, findings)) return;
  check_pending(shadow.elements[static_cast<std::size_t>(position)], buffer, position, thread,
                "writes", now, findings);
  compare_write(shadow, buffer, position, thread, changes, now, findings);
}

void note_copy(Shadow& shadow, const BufferNode& buffer, std::int64_t position, int thread,
               Value value, bool changes, const Moment& now, Findings& findings) {
  if (!in_scope(shadow, buffer, position, thread, now, findings)) return;
  auto& e = shadow.elements[static_cast<std::size_t>(position)];
  if (e.copies > 0 && e.arriving.i != value.i) {
    check_pending(e, buffer, position, thread, "copies to", now, findings);
  }
  compare_write(shadow, buffer, position, thread, changes && e.copies == 0, now, findings);
  ++e.copies;
  e.copier = thread;
  e.arriving = value;
}

void note_arrival(Shadow& shadow, std::int64_t position, int thread, const Moment& now) {
  auto& e = shadow.elements[static_cast<std::size_t>(position)];
  if (e.copies > 0) --e.copies;
  e.write_phase = now.phase;
  e.write_block = now.block;
  e.write_thread = thread;
}

}  // namespace attune::ir
