#include "runtime/format/file_mapping.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace attune::runtime {
namespace {

Error cannot_read(const std::string& path, int reason) {
  const ErrorCode code = reason == ENOENT ? ErrorCode::NotFound : ErrorCode::Io;
  return {code, "cannot read '" + path + "': " + std::strerror(reason),
          reason == ENOENT ? "check the path" : ""};
}

}  // namespace

Result<FileMapping> FileMapping::open(const std::string& path) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0) return cannot_read(path, errno);
  struct stat status = {};
  FileMapping mapping;
  int reason = 0;
  if (::fstat(descriptor, &status) != 0) {
    reason = errno;
  } else if (S_ISDIR(status.st_mode)) {
    reason = EISDIR;
  } else if (!S_ISREG(status.st_mode)) {
    reason = EINVAL;
  } else if (status.st_size > 0) {
    mapping.bytes_ = static_cast<std::size_t>(status.st_size);
    mapping.data_ = ::mmap(nullptr, mapping.bytes_, PROT_READ, MAP_PRIVATE, descriptor, 0);
    if (mapping.data_ == MAP_FAILED) {
      reason = errno;
      mapping.data_ = nullptr;
      mapping.bytes_ = 0;
    }
  }
  ::close(descriptor);
  if (reason != 0) return cannot_read(path, reason);
  return mapping;
}

FileMapping::FileMapping(FileMapping&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}

FileMapping& FileMapping::operator=(FileMapping&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(bytes_, other.bytes_);
  return *this;
}

FileMapping::~FileMapping() {
  if (data_ != nullptr) ::munmap(data_, bytes_);
}

}  // namespace attune::runtime
