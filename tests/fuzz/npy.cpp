// Tensors in .npy files: what was read is written and read again.
#include "tensor_files/npy.h"

#include "base/check.h"
#include "tests/fuzz/harness.h"

namespace attune::fuzz {

void fuzz_npy(std::string_view bytes) {
  const auto tensor = tensor_files::parse_npy(std::string(bytes), "x.npy");
  if (!tensor.ok()) return;
  const auto again = tensor_files::parse_npy(tensor_files::npy_bytes(*tensor), "y.npy");
  CHECK(again.ok() && again->elements() == tensor->elements(),
        "a tensor reads back as it was written");
}

}  // namespace attune::fuzz
