#include "runtime/format/artifact_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
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

Error changed(const std::string& how) {
  return {ErrorCode::Corrupt, "the artifact was changed while it was in use: " + how,
          "load it again; replace artifacts by renaming a new file over the old one"};
}

std::uint64_t page_bytes() { return static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE)); }

}  // namespace

Result<ArtifactFile> ArtifactFile::open(const std::string& path) {
  ArtifactFile file;
  file.path_ = path;
  file.descriptor_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file.descriptor_ < 0 || ::fstat(file.descriptor_, &file.opened_) != 0) {
    return cannot_read(path, errno);
  }
  if (S_ISDIR(file.opened_.st_mode)) return cannot_read(path, EISDIR);
  if (!S_ISREG(file.opened_.st_mode)) return cannot_read(path, EINVAL);
  file.bytes_ = static_cast<std::uint64_t>(file.opened_.st_size);
  return file;
}

Status ArtifactFile::read(std::uint64_t offset, std::span<std::byte> to) const {
  while (!to.empty()) {
    const ssize_t count = ::pread(descriptor_, to.data(), to.size(), static_cast<::off_t>(offset));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return cannot_read(path_, errno);
    if (count == 0) return changed("it was cut to " + std::to_string(offset) + " bytes");
    to = to.subspan(static_cast<std::size_t>(count));
    offset += static_cast<std::uint64_t>(count);
  }
  return {};
}

// Memory of our own in the place of what is mapped there.
Status ArtifactFile::read_in_place(std::uint64_t begin, std::uint64_t end) {
  if (end == begin) return {};
  if (::mmap(data_ + begin, end - begin, PROT_READ | PROT_WRITE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_POPULATE, -1, 0) == MAP_FAILED) {
    return Error{ErrorCode::Exhausted,
                 "cannot hold " + std::to_string(end - begin) + " bytes of '" + path_ +
                     "' in memory: " + std::strerror(errno),
                 "free memory on this machine"};
  }
  ATTUNE_RETURN_IF_ERROR(read(begin, {data_ + begin, end - begin}));
  if (::mprotect(data_ + begin, end - begin, PROT_READ) != 0) return cannot_read(path_, errno);
  return {};
}

Status ArtifactFile::load(const FileRange& mapped) {
  const std::uint64_t page = page_bytes();
  const std::uint64_t begin = (mapped.offset + page - 1) / page * page;
  const std::uint64_t end = (mapped.offset + mapped.bytes) / page * page;
  if (end <= begin || end > bytes_) return load_all();
  // All of the file first: what stays mapped takes no memory, however large it is.
  void* place = ::mmap(nullptr, bytes_, PROT_READ, MAP_PRIVATE, descriptor_, 0);
  if (place == MAP_FAILED) return cannot_read(path_, errno);
  data_ = static_cast<std::byte*>(place);
  if (!guard_.watch(data_ + begin, end - begin)) {
    ::munmap(std::exchange(data_, nullptr), bytes_);
    return load_all();
  }
  ATTUNE_RETURN_IF_ERROR(read_in_place(0, begin));
  return read_in_place(end, bytes_);
}

Status ArtifactFile::load_all() {
  ATTUNE_ASSIGN(memory_, Memory::allocate(bytes_, Pages::Huge));
  data_ = static_cast<std::byte*>(memory_.data());
  ATTUNE_RETURN_IF_ERROR(read(0, {data_, bytes_}));
  memory_.make_read_only();
  close_descriptor();
  return {};
}

Status ArtifactFile::check_unchanged() const {
  if (!guard_.is_watching()) return {};
  if (guard_.was_cut()) return changed("it was cut short");
  struct stat now = {};
  // By its number: where system calls are filtered, others that a C library makes of fstat() may
  // not be allowed. A host may close descriptors that it does not know, and open others in their
  // place.
  if (::syscall(SYS_fstat, descriptor_, &now) != 0 || now.st_dev != opened_.st_dev ||
      now.st_ino != opened_.st_ino) {
    return {};
  }
  if (now.st_size != opened_.st_size) {
    return changed("it has " + std::to_string(now.st_size) + " bytes and had " +
                   std::to_string(opened_.st_size));
  }
  if (now.st_mtim.tv_sec != opened_.st_mtim.tv_sec ||
      now.st_mtim.tv_nsec != opened_.st_mtim.tv_nsec) {
    return changed("it was written to");
  }
  return {};
}

ArtifactFile::ArtifactFile(ArtifactFile&& other) noexcept
    : path_(std::move(other.path_)),
      descriptor_(std::exchange(other.descriptor_, -1)),
      opened_(other.opened_),
      data_(std::exchange(other.data_, nullptr)),
      bytes_(std::exchange(other.bytes_, 0)),
      memory_(std::move(other.memory_)),
      guard_(std::move(other.guard_)) {}

ArtifactFile& ArtifactFile::operator=(ArtifactFile&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(descriptor_, other.descriptor_);
  std::swap(opened_, other.opened_);
  std::swap(data_, other.data_);
  std::swap(bytes_, other.bytes_);
  std::swap(memory_, other.memory_);
  std::swap(guard_, other.guard_);
  return *this;
}

void ArtifactFile::close_descriptor() {
  if (descriptor_ >= 0) ::close(std::exchange(descriptor_, -1));
}

ArtifactFile::~ArtifactFile() {
  guard_ = {};
  if (data_ != nullptr && memory_.data() == nullptr) ::munmap(data_, bytes_);
  close_descriptor();
}

}  // namespace attune::runtime
