// Code for CUDA devices, as artifacts carry it.
#include "targets/cuda/device/image.h"

#include <algorithm>
#include <span>
#include <vector>

#include "base/check.h"
#include "tests/fuzz/harness.h"

namespace attune::fuzz {
namespace {

std::vector<std::byte> written(const std::vector<cuda::KernelImage>& images) {
  std::vector<std::byte> bytes;
  for (const cuda::KernelImage& image : images) {
    const std::vector<std::byte> one = cuda::write_image(image);
    bytes.insert(bytes.end(), one.begin(), one.end());
  }
  return bytes;
}

}  // namespace

// Earlier versions are read and written as this one: what was written is read as the same.
void fuzz_cuda_image(std::string_view bytes) {
  const auto images = cuda::read_images(std::as_bytes(std::span(bytes)));
  if (!images.ok()) return;
  const std::vector<std::byte> once = written(*images);
  const auto again = cuda::read_images(once);
  CHECK(again.ok() && std::ranges::equal(once, written(*again)), "what was written is read so");
}

}  // namespace attune::fuzz
