// The machine code of an artifact, checked and laid out in memory; none of it runs.
#include "targets/cpu/device/kernel_module.h"
#include "tests/fuzz/harness.h"

namespace attune::fuzz {

void fuzz_kernel_object(std::string_view bytes) {
  (void)cpu::KernelModule::load(std::as_bytes(std::span(bytes.data(), bytes.size())));
}

}  // namespace attune::fuzz
