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

// Instructions of a warpgroup (tensor_intrinsic.h) run beside what follows them. All its lanes call
// these together.
// What the lanes wrote to their registers is there for the instructions behind it.
inline constexpr std::string_view kMatrixFence = "matrix_fence";
// Closes the warpgroup's open group of instructions, also one without any.
inline constexpr std::string_view kMatrixCommit = "matrix_commit";
// Waits until all but the newest N groups of the warpgroup are done: then their results are there,
// and what they read may be written again. N is its argument.
inline constexpr std::string_view kMatrixWait = "matrix_wait";
// What the thread wrote to shared memory is there for instructions that read it by themselves, once
// those who call them have met the thread at a barrier.
inline constexpr std::string_view kSharedFence = "shared_fence";

// Bulk copies: one thread has a piece of global memory copied to shared memory, and others wait for
// it at an arrival counter, an element of a shared buffer of i64.
// Makes counters ready that lie side by side. Args: the first, and how many. By one thread; all use
// them behind a barrier.
inline constexpr std::string_view kBulkInit = "bulk_init";
// Args: the first element in shared memory and the first in global memory, how many that lie side
// by side, a multiple of 16 bytes of them, the counter, and how many blocks of a cluster have the
// same copied to the same place. These share the work, so that each must have met the others at a
// cluster barrier since it last read the place.
inline constexpr std::string_view kBulkCopy = "bulk_copy";
// Waits at a counter until a copy has arrived there since the thread waited last. Args: the
// counter, and the parity of how many the thread has waited for there.
inline constexpr std::string_view kBulkWait = "bulk_wait";
// All threads of all blocks of a cluster meet. Args: how many blocks that are, and along which axis
// they are neighbours, 0 for x.
inline constexpr std::string_view kClusterBarrier = "cluster_barrier";

std::span<const IntrinsicDecl> intrinsics();
const IntrinsicDecl* find_intrinsic(std::string_view name);

}  // namespace attune::ir
