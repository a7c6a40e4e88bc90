// What a run of launches found wrong with a kernel. Each finding is one sentence with buffer,
// index, block and thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace attune::ir {

enum class FindingKind : std::uint8_t {
  MissingBarrier,    // one thread writes what another of its block reads, with no barrier between
  WriteRace,         // two threads of a block write different values, with no barrier between
  BlockRace,         // two blocks of a launch access an element, and one writes it
  DivergentBarrier,  // a barrier that not all threads of a block reach
  DivergentWarp,     // an instruction of a warp that its lanes do not run as one
  OutOfBounds,
  OutOfScope,      // memory of another thread or block
  Uninitialised,   // a read of what nobody wrote
  PendingCopy,     // an access to an element that an asynchronous copy is under way to
  UnwaitedCopy,    // asynchronous copies that nobody waited for
  Misaligned,      // an asynchronous copy at no multiple of its length
  EndlessWait,     // a wait for a bulk copy that nobody made
  PendingMatrix,   // a write of what an instruction of a warpgroup may still read, or an access to
                   // registers that it may still write
  UnwaitedMatrix,  // instructions of a warpgroup that nobody waited for
  MissingFence,    // one that takes what was written without the fence that it needs
  LaunchLimit,     // more threads or memory than the device has
};
std::string_view to_string(FindingKind kind);

struct Finding {
  FindingKind kind;
  std::string text;
};

// The first finding of each kind and buffer.
class Findings {
 public:
  void add(FindingKind kind, const std::string& buffer, std::string text);
  bool has(FindingKind kind, const std::string& buffer) const;
  const std::vector<Finding>& list() const { return list_; }

 private:
  std::vector<Finding> list_;
  std::vector<std::pair<FindingKind, std::string>> seen_;
};

}  // namespace attune::ir
