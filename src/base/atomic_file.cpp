#include "base/atomic_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

#include "base/sync_folder.h"

namespace attune {
namespace {

constexpr std::size_t kBufferBytes = std::size_t{1} << 16;

std::string directory_of(const std::string& path) {
  const std::string parent = std::filesystem::path(path).parent_path().string();
  return parent.empty() ? "." : parent;
}

Status write_all(int fd, std::string_view bytes, const std::string& path) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(fd, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return write_error(path, errno);
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return {};
}

// Opens a file that did not exist before, beside `target` and with the target's permissions.
int open_part(const std::string& target, mode_t mode, std::string& part) {
  const std::filesystem::path path(target);
  for (int attempt = 0;; ++attempt) {
    std::string name = ".";
    name += path.filename().string();
    name += "." + std::to_string(::getpid()) + "-" + std::to_string(attempt) + ".part";
    part = (std::filesystem::path(directory_of(target)) / name).string();
    const int fd = ::open(part.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
    if (fd >= 0 || errno != EEXIST) return fd;
  }
}

}  // namespace

Error write_error(const std::string& path, int error_number) {
  const std::string what = "cannot write '" + path + "': ";
  switch (error_number) {
    case ENOSPC:
    case EDQUOT:
      return {ErrorCode::Exhausted, what + "no space left on the disk",
              "free some space and try again; what was there before is unchanged"};
    case EACCES:
    case EPERM:
      return {ErrorCode::Io, what + "permission denied", "choose a place you may write to"};
    case EROFS:
      return {ErrorCode::Io, what + "the file system is read-only",
              "choose a place you may write to"};
    case ENOENT:
      return {ErrorCode::NotFound, what + "directory '" + directory_of(path) + "' does not exist",
              "create the directory first"};
    case ENOTDIR:
      return {ErrorCode::InvalidArgument, what + "'" + directory_of(path) + "' is not a directory",
              "choose another path"};
    case EISDIR:
      return {ErrorCode::InvalidArgument, what + "it is a directory",
              "give the name of a file in it"};
    default:
      return {ErrorCode::Io, what + std::strerror(error_number), {}};
  }
}

AtomicFile::AtomicFile(std::string path, std::string target, std::string part, int fd)
    : path_(std::move(path)), target_(std::move(target)), part_(std::move(part)), fd_(fd) {}

AtomicFile::AtomicFile(AtomicFile&& other) noexcept
    : path_(std::move(other.path_)),
      target_(std::move(other.target_)),
      part_(std::exchange(other.part_, {})),
      fd_(std::exchange(other.fd_, -1)),
      buffer_(std::move(other.buffer_)) {}

AtomicFile::~AtomicFile() {
  if (fd_ >= 0) ::close(fd_);
  if (!part_.empty()) ::unlink(part_.c_str());
}

Result<AtomicFile> AtomicFile::create(const std::string& path) {
  if (path.empty()) return invalid("cannot write '': the path is empty", "name a file");
  std::string target = path;
  std::error_code ignored;
  if (std::filesystem::is_symlink(path, ignored)) {
    target = std::filesystem::weakly_canonical(path, ignored).string();
    if (target.empty()) target = path;
  }
  struct stat status = {};
  const bool exists = ::stat(target.c_str(), &status) == 0;
  if (exists && S_ISDIR(status.st_mode)) return write_error(path, EISDIR);
  if (exists && !S_ISREG(status.st_mode)) {
    const int fd = ::open(target.c_str(), O_WRONLY | O_CLOEXEC);
    if (fd < 0) return write_error(path, errno);
    return AtomicFile(path, target, {}, fd);
  }
  // Replacing a file takes leave to write it, not only to write its directory.
  if (exists && ::access(target.c_str(), W_OK) != 0) return write_error(path, errno);
  std::string part;
  const int fd = open_part(target, 0666, part);
  if (fd < 0) return write_error(path, errno);
  if (exists) (void)!::fchmod(fd, status.st_mode & 07777);
  return AtomicFile(path, target, part, fd);
}

Status AtomicFile::flush() {
  const std::string pending = std::exchange(buffer_, {});
  return write_all(fd_, pending, path_);
}

Status AtomicFile::write(std::string_view bytes) {
  CHECK(fd_ >= 0, "write after commit to " + path_);
  buffer_.append(bytes);
  return buffer_.size() < kBufferBytes ? Status{} : flush();
}

Status AtomicFile::take(const std::string& from) {
  CHECK(fd_ >= 0 && buffer_.empty(), "take after write to " + path_);
  const int source = ::open(from.c_str(), O_RDONLY | O_CLOEXEC);
  if (source < 0) {
    return Error{ErrorCode::NotFound, "cannot read '" + from + "': " + std::strerror(errno), {}};
  }
  if (!part_.empty() && ::rename(from.c_str(), part_.c_str()) == 0) {
    struct stat status = {};
    if (::fstat(fd_, &status) == 0) (void)!::fchmod(source, status.st_mode & 07777);
    ::close(std::exchange(fd_, source));
    return {};
  }
  std::string chunk(kBufferBytes, '\0');
  Status written;
  for (;;) {
    const ssize_t got = ::read(source, chunk.data(), chunk.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) written = Error{ErrorCode::Io, "cannot read '" + from + "'", {}};
    if (got <= 0) break;
    written =
        write_all(fd_, std::string_view(chunk).substr(0, static_cast<std::size_t>(got)), path_);
    if (!written.ok()) break;
  }
  ::close(source);
  if (written.ok()) ::unlink(from.c_str());
  return written;
}

Status AtomicFile::commit() {
  CHECK(fd_ >= 0, "second commit of " + path_);
  ATTUNE_RETURN_IF_ERROR(flush());
  const bool direct = part_.empty();
  if (!direct && ::fsync(fd_) != 0) return write_error(path_, errno);
  if (::close(std::exchange(fd_, -1)) != 0) return write_error(path_, errno);
  if (direct) return {};
  if (::rename(part_.c_str(), target_.c_str()) != 0) return write_error(path_, errno);
  part_.clear();
  (void)sync_folder(directory_of(target_));  // the file is in place all the same
  return {};
}

Status write_file_atomically(const std::string& path, std::string_view bytes) {
  ATTUNE_ASSIGN(AtomicFile file, AtomicFile::create(path));
  ATTUNE_RETURN_IF_ERROR(file.write(bytes));
  return file.commit();
}

}  // namespace attune
