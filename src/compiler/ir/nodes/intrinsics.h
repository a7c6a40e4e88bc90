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

std::span<const IntrinsicDecl> intrinsics();
const IntrinsicDecl* find_intrinsic(std::string_view name);

}  // namespace attune::ir
