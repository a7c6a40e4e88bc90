// Code for CUDA devices, as artifacts carry it.
#include "targets/cuda/device/image.h"

#include <algorithm>
#include <span>
#include <vector>

#include "base/check.h"
#include "tests/fuzz/harness.h"

namespace attune::fuzz {

void fuzz_cuda_image(std::string_view bytes) {
  const auto images = cuda::read_images(std::as_bytes(std::span(bytes)));
  if (!images.ok()) return;
  std::vector<std::byte> again;
  for (const cuda::KernelImage& image : *images) {
    const std::vector<std::byte> one = cuda::write_image(image);
    again.insert(again.end(), one.begin(), one.end());
  }
  CHECK(std::ranges::equal(again, std::as_bytes(std::span(bytes))), "what was read is written so");
}

}  // namespace attune::fuzz
