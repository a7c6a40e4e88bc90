// The entry that libFuzzer looks for; CMake says which harness a program is made of.
#include <cstddef>
#include <cstdint>

#include "tests/fuzz/harness.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  attune::fuzz::ATTUNE_HARNESS_FUNCTION({reinterpret_cast<const char*>(data), size});
  return 0;
}
