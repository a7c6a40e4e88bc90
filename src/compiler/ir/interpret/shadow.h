// Shadow memory: for every element that several threads can reach, who wrote and who read it last.
// Time is counted in phases: a new one begins with every block and behind every barrier, so that
// two accesses by different threads in one phase have no order. The scheme is that of
// happens-before race detectors (Flanagan and Freund, FastTrack, 2009), which barriers reduce to
// one number.
#pragma once

#include <cstdint>
#include <vector>

#include "compiler/ir/interpret/evaluate.h"
#include "compiler/ir/interpret/findings.h"
#include "compiler/ir/nodes/launch.h"

namespace attune::ir {

struct Shadow {
  static constexpr std::int32_t kBulk = -2;  // the writer of what a bulk copy brought
  struct Element {
    std::int64_t write_phase = -1, read_phase = -1;
    std::int64_t write_block = -1, read_block = -1;
    std::int32_t write_thread = -1, read_thread = -1;
    // Another reader in the phase, and another block in the launch; -1: none.
    std::int32_t other_thread = -1;
    std::int64_t other_block = -1;
    // Asynchronous copies that are under way to it: how many, the last of which thread, of what.
    std::int32_t copies = 0, copier = -1;
    Value arriving{};
    // Instructions of warpgroups that may still read it; how many fences its writer had called.
    std::int32_t matrices = 0, fences = 0;
    // Of the last bulk copy: its counter, and the phase of that.
    std::int32_t counter = -1;
    std::int64_t counter_phase = 0;
  };
  explicit Shadow(std::int64_t count) : elements(static_cast<std::size_t>(count)) {}

  std::vector<Element> elements;
  std::int64_t owner_block = -1;   // of shared memory
  std::int32_t owner_thread = -1;  // of a thread's own memory, when others can reach it
};

// Where and when in a launch something happens.
struct Moment {
  Extents3 grid{1, 1, 1}, threads{1, 1, 1};
  std::int64_t block = 0;
  std::int64_t phase = 0;
  std::int64_t launch_phase = 0;  // the first phase of the launch

  std::string block_text() const;                      // "(0, 1, 0)"
  std::string thread_text(std::int64_t thread) const;  // "thread (3, 0, 0) of block (0, 1, 0)"
};

// "'S' at [3, 4]"
std::string element_text(const BufferNode& buffer, std::int64_t position);

// Compares an access with what is known of its element, and remembers it.
void note_read(Shadow& shadow, const BufferNode& buffer, std::int64_t position, int thread,
               const Moment& now, Findings& findings);
// `changes`: the value differs from what the element holds.
void note_write(Shadow& shadow, const BufferNode& buffer, std::int64_t position, int thread,
                bool changes, const Moment& now, Findings& findings);
// An asynchronous copy sets out as a write and arrives as one, in the phase of the wait for it.
void note_copy(Shadow& shadow, const BufferNode& buffer, std::int64_t position, int thread,
               Value value, bool changes, const Moment& now, Findings& findings);
void note_arrival(Shadow& shadow, std::int64_t position, int thread, const Moment& now);

}  // namespace attune::ir
