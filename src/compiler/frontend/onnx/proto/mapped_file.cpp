#include "compiler/frontend/onnx/proto/mapped_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace attune::onnx_proto {
namespace {

Error open_error(const std::string& path, int error_number) {
  if (error_number == ENOENT || error_number == ENOTDIR) {
    return {ErrorCode::NotFound, fmt::format("there is no file '{}'", path), "check the path"};
  }
  return {
      ErrorCode::Io, fmt::format("cannot read '{}': {}", path, std::strerror(error_number)), {}};
}

// Closes the descriptor when the scope ends; the mapping stays.
struct Descriptor {
  int fd;
  ~Descriptor() {
    if (fd >= 0) ::close(fd);
  }
};

}  // namespace

Result<std::shared_ptr<const MappedFile>> MappedFile::open(const std::string& path) {
  // Without O_NONBLOCK a pipe would wait for a writer.
  const Descriptor file{::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)};
  if (file.fd < 0) return open_error(path, errno);
  struct stat facts {};
  if (::fstat(file.fd, &facts) != 0) return open_error(path, errno);
  if (S_ISDIR(facts.st_mode)) return invalid(fmt::format("'{}' is a directory", path));
  if (!S_ISREG(facts.st_mode)) return invalid(fmt::format("'{}' is not a regular file", path));
  const auto size = static_cast<std::size_t>(facts.st_size);
  std::span<const std::byte> bytes;
  if (size > 0) {
    void* address = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.fd, 0);
    if (address == MAP_FAILED) return open_error(path, errno);
    bytes = {static_cast<const std::byte*>(address), size};
  }
  return std::shared_ptr<const MappedFile>(new MappedFile(bytes));
}

MappedFile::~MappedFile() {
  if (!bytes_.empty()) ::munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size());
}

}  // namespace attune::onnx_proto
