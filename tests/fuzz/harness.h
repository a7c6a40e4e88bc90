// What a fuzzer calls: one function per reader. Whatever the bytes are, it returns, having taken
// little time and memory; what the reader gives back is used as its callers use it.
#pragma once

#include <string_view>

namespace attune::fuzz {

#define ATTUNE_HARNESS(name, layers, sources) void fuzz_##name(std::string_view bytes);
#include "tests/fuzz/list.inc"

}  // namespace attune::fuzz
