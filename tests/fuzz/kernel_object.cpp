// The machine code of an artifact: what is looked at before any of it may run.
#include "targets/cpu/device/inert_object.h"
#include "tests/fuzz/harness.h"

namespace attune::fuzz {

void fuzz_kernel_object(std::string_view bytes) {
  (void)cpu::check_inert_object(std::as_bytes(std::span(bytes.data(), bytes.size())));
}

}  // namespace attune::fuzz
