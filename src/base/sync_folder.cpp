#include "base/sync_folder.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace attune {

Status sync_folder(const std::string& path) {
  const int folder = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  int failure = folder < 0 ? errno : 0;
  if (folder >= 0) {
    if (::fsync(folder) != 0) failure = errno;
    ::close(folder);
  }
  for (const int none : {0, ENOENT, EINVAL, ENOTSUP}) {
    if (failure == none) return {};
  }
  return Error{ErrorCode::Io, "cannot sync folder '" + path + "': " + std::strerror(failure), {}};
}

Status sync_file(const std::string& path) {
  const int file = ::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
  int failure = file < 0 ? errno : 0;
  if (file >= 0) {
    if (::fsync(file) != 0) failure = errno;
    ::close(file);
  }
  if (failure == 0) return {};
  return Error{ErrorCode::Io, "cannot sync file '" + path + "': " + std::strerror(failure), {}};
}

}  // namespace attune
