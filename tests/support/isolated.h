// Runs a piece of a test in a child process, so that a crash, an abort or a hang of what is tested
// becomes an answer. What the child noted before its end is not lost.
#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace attune::test {

// Text goes to the parent at once, even if the child dies right after.
using Note = std::function<void(std::string_view text)>;

struct IsolatedResult {
  std::string notes;    // all that was noted, in order
  std::string failure;  // empty, or how the child ended: "signal 11 (Segmentation fault)"
};

// The child ends with `piece`; after `seconds` it is stopped.
IsolatedResult run_isolated(const std::function<void(const Note&)>& piece, int seconds);

}  // namespace attune::test
