#include "targets/cuda/device/image.h"

#include <cstring>

namespace attune::cuda {
namespace {

void number(std::vector<std::byte>& to, std::int64_t value) {
  const auto* first = reinterpret_cast<const std::byte*>(&value);
  to.insert(to.end(), first, first + sizeof value);
}

void bytes(std::vector<std::byte>& to, const void* data, std::size_t size) {
  number(to, static_cast<std::int64_t>(size));
  const auto* first = static_cast<const std::byte*>(data);
  to.insert(to.end(), first, first + size);
}

}  // namespace

std::vector<std::byte> write_image(const KernelImage& image) {
  std::vector<std::byte> to;
  bytes(to, image.symbol.data(), image.symbol.size());
  bytes(to, image.architecture.data(), image.architecture.size());
  number(to, image.parameters);
  number(to, image.scratch_bytes);
  number(to, std::ssize(image.launches));
  for (const LaunchImage& launch : image.launches) {
    bytes(to, launch.function.data(), launch.function.size());
    for (const std::int64_t extent : launch.grid) number(to, extent);
    for (const std::int64_t extent : launch.block) number(to, extent);
    number(to, launch.shared_bytes);
    number(to, std::ssize(launch.arguments));
    for (const Argument& argument : launch.arguments) {
      number(to, argument.scratch);
      number(to, argument.at);
    }
  }
  bytes(to, image.cubin.data(), image.cubin.size());
  bytes(to, image.ptx.data(), image.ptx.size());
  return to;
}

}  // namespace attune::cuda
