// What ptxas says of the functions it made.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace attune::cuda {

struct PtxasFacts {
  std::int64_t registers = 0;    // of a thread, the most of all functions
  std::int64_t stack_bytes = 0;  // of a thread, the most of all functions
  std::int64_t spill_bytes = 0;  // moved to and from memory, of all functions together
  std::string serialised;        // why instructions of warpgroups wait for each other; empty: no
};

PtxasFacts parse_ptxas_log(std::string_view log);

}  // namespace attune::cuda
