// Opaque intrinsics: operations that passes leave alone and each target emits in its own way. Every
// one is declared here with what it means, so that verifier and interpreter know it.
#pragma once

#include <span>
#include <string_view>

namespace attune::ir {

struct IntrinsicDecl {
  std::string_view name;
  int arg_count;  // -1: any
  // No effect on any value the program computes: the interpreter skips it.
  bool no_effect;
  int written_args;  // the first ones: loads that name places it writes
  std::string_view meaning;
};

// Forgets what is known about buffer addresses, so that the code generator's optimiser does not
// merge loads before it with loads after it.
inline constexpr std::string_view kLaunder = "launder";
// Asks for the cache line of an address: args are a Load and the locality 0..3.
inline constexpr std::string_view kPrefetch = "prefetch";
// The number of the worker that runs the enclosing parallel loop, 0 outside of one.
inline constexpr std::string_view kWorker = "worker";

// Asynchronous copies from global to shared memory. Args: the first element in shared memory and
// the first in global memory, both Loads; how many elements that lie side by side, 4, 8 or 16 bytes
// of them and at a multiple of their number; and whether they are read at all: where that is false,
// zeros are written and the source is not touched. The copy belongs to its thread's open group.
// Nobody may access the elements until the thread waited for the group, and other threads not
// before a barrier behind that.
inline constexpr std::string_view kAsyncCopy = "async_copy";
// Closes the thread's open group of copies, also one without any.
inline constexpr std::string_view kAsyncCommit = "async_commit";
// Waits until all but the newest N groups of the thread have arrived; N is its argument.
inline constexpr std::string_view kAsyncWait = "async_wait";

std::span<const IntrinsicDecl> intrinsics();
const IntrinsicDecl* find_intrinsic(std::string_view name);

}  // namespace attune::ir
