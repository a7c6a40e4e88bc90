#include "tuner/measure/probe/shared_region.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>

namespace attune::probe {
namespace {

Error no_memory(const char* what, std::size_t bytes) {
  return {ErrorCode::Exhausted,
          std::string("cannot ") + what + " " + std::to_string(bytes) +
              " bytes of shared memory: " + std::strerror(errno),
          "free memory on this machine"};
}

}  // namespace

Result<SharedRegion> SharedRegion::create(const char* name, std::size_t bytes, Use use) {
  SharedRegion region;
  region.descriptor_ = Descriptor(memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING));
  const int number = region.descriptor();
  if (number < 0 || ftruncate(number, static_cast<off_t>(bytes)) != 0) {
    return no_memory("create", bytes);
  }
  // Where there are no seals the cage around the worker is what is left (attune doctor says so).
  const int last = use == Use::Written ? F_SEAL_SEAL : 0;
  (void)fcntl(number, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | last);
  region.bytes_ = bytes;
  ATTUNE_RETURN_IF_ERROR(region.map(true));
  return region;
}

Result<SharedRegion> SharedRegion::attach(Descriptor descriptor, bool writable) {
  // Not by fstat: libraries ask for that by a call that could name other files, which a cage
  // forbids.
  const off_t bytes = lseek(descriptor.number(), 0, SEEK_END);
  if (bytes <= 0) return Error{ErrorCode::Io, "cannot read the size of a measurement", ""};
  SharedRegion region;
  region.descriptor_ = std::move(descriptor);
  region.bytes_ = static_cast<std::size_t>(bytes);
  ATTUNE_RETURN_IF_ERROR(region.map(writable));
  return region;
}

Status SharedRegion::map(bool writable) {
  const int rights = writable ? PROT_READ | PROT_WRITE : PROT_READ;
  // Kernels before 6.7 take every shared mapping of a sealed file for one that may be written to.
  const int kind = writable ? MAP_SHARED : MAP_PRIVATE;
  void* raw = mmap(nullptr, bytes_, rights, kind, descriptor(), 0);
  if (raw == MAP_FAILED) return no_memory("map", bytes_);
  base_ = static_cast<std::byte*>(raw);
  return {};
}

Status SharedRegion::make_read_only() {
  munmap(std::exchange(base_, nullptr), bytes_);
  (void)fcntl(descriptor(), F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_SEAL);
  return map(false);
}

SharedRegion& SharedRegion::operator=(SharedRegion&& other) noexcept {
  std::swap(descriptor_, other.descriptor_);
  std::swap(base_, other.base_);
  std::swap(bytes_, other.bytes_);
  return *this;
}

SharedRegion::~SharedRegion() {
  if (base_ != nullptr) munmap(base_, bytes_);
}

}  // namespace attune::probe
