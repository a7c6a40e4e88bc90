#include "base/input_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <utility>

namespace attune {
namespace {

namespace fs = std::filesystem;

// Without O_NONBLOCK a pipe would wait for a writer.
constexpr int kFlags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY;

Error cannot(const std::string& path, const std::string& why, ErrorCode code = ErrorCode::Io) {
  return {code, fmt::format("cannot read '{}': {}", path, why), {}};
}

Error failed(const std::string& path, int reason) {
  std::string why = std::strerror(reason);
  why[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(why[0])));
  const bool missing = reason == ENOENT || reason == ENOTDIR;
  return cannot(path, why, missing ? ErrorCode::NotFound : ErrorCode::Io);
}

// The part of `path` below `folder`; empty where it does not lie there. Both are real paths.
fs::path part_below(const fs::path& path, const fs::path& folder) {
  const auto [outside, inside] =
      std::mismatch(folder.begin(), folder.end(), path.begin(), path.end());
  fs::path rest;
  if (outside != folder.end()) return rest;
  for (auto name = inside; name != path.end(); ++name) rest /= *name;
  return rest;
}

// Opens a file by names from a folder down, none of which may be a link (any more).
int open_without_links(const fs::path& folder, const fs::path& names) {
  int at = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  for (auto name = names.begin(); at >= 0 && name != names.end(); ++name) {
    const bool last = std::next(name) == names.end();
    const int next =
        ::openat(at, name->c_str(),
                 last ? kFlags | O_NOFOLLOW : O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    const int reason = errno;
    ::close(at);
    errno = reason;
    at = next;
  }
  return at;
}

}  // namespace

InputFile::InputFile(InputFile&& other) noexcept
    : path_(std::move(other.path_)),
      descriptor_(std::exchange(other.descriptor_, -1)),
      size_(other.size_) {}

InputFile& InputFile::operator=(InputFile&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(descriptor_, other.descriptor_);
  std::swap(size_, other.size_);
  return *this;
}

InputFile::~InputFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

Result<InputFile> InputFile::take(std::string path, int descriptor) {
  if (descriptor < 0) return failed(path, errno);
  InputFile file(std::move(path), descriptor);
  struct stat facts {};
  if (::fstat(descriptor, &facts) != 0) return failed(file.path_, errno);
  if (S_ISDIR(facts.st_mode)) return cannot(file.path_, "it is a directory");
  if (!S_ISREG(facts.st_mode)) return cannot(file.path_, "it is not a regular file");
  file.size_ = static_cast<std::uint64_t>(facts.st_size);
  return file;
}

Result<InputFile> InputFile::open(const std::string& path) {
  return take(path, ::open(path.c_str(), kFlags));
}

Result<InputFile> InputFile::open_below(const std::string& folder, const std::string& relative,
                                        const std::vector<std::string>& others) {
  const std::string shown = (fs::path(folder) / relative).string();
  std::error_code failure;
  const fs::path real = fs::canonical(shown, failure);
  if (failure) return failed(shown, failure.value());
  std::vector<std::string> allowed = others;
  allowed.insert(allowed.begin(), folder.empty() ? "." : folder);
  for (const std::string& one : allowed) {
    const fs::path root = fs::canonical(one, failure);
    if (failure) continue;
    if (const fs::path names = part_below(real, root); !names.empty()) {
      return take(shown, open_without_links(root, names));
    }
  }
  return Error{ErrorCode::InvalidArgument,
               fmt::format("cannot read '{}': it is a link to '{}', out of the folder", shown,
                           real.string()),
               "put the file itself there"};
}

Result<std::string> InputFile::read(std::uint64_t most) const {
  if (size_ > most) return cannot(path_, fmt::format("it has {} bytes, more than {}", size_, most));
  std::string text;
  // One byte more shows the end. Files of the system say 0 and have content.
  std::uint64_t room = std::max<std::uint64_t>(size_ + 1, 4096);
  for (;;) {
    const std::size_t have = text.size();
    text.resize(static_cast<std::size_t>(std::min<std::uint64_t>(have + room, most + 1)));
    const ssize_t got =
        ::pread(descriptor_, text.data() + have, text.size() - have, static_cast<off_t>(have));
    text.resize(have + static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return failed(path_, errno);
    if (got == 0) return text;
    if (text.size() > most) return cannot(path_, fmt::format("it has more than {} bytes", most));
    room = std::max<std::uint64_t>(text.size(), 4096);
  }
}

}  // namespace attune
