// Archives of tensors.
#include "tensor_files/npz.h"

#include "tests/fuzz/harness.h"

namespace attune::fuzz {

void fuzz_npz(std::string_view bytes) {
  (void)tensor_files::parse_npz(std::string(bytes), "x.npz");
}

}  // namespace attune::fuzz
