// Files that appear whole or not at all: bytes go to a file beside the target, are forced to the
// disk, and the finished file is renamed over the target. Whoever is killed half-way leaves the old
// file as it was. A target that is no regular file (a pipe, /dev/null) is written directly.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace attune {

class AtomicFile {
 public:
  static Result<AtomicFile> create(const std::string& path);

  AtomicFile(AtomicFile&& other) noexcept;
  AtomicFile& operator=(AtomicFile&&) = delete;
  AtomicFile(const AtomicFile&) = delete;
  // Without commit() the new bytes are thrown away.
  ~AtomicFile();

  Status write(std::string_view bytes);
  // Instead: the content is that of another file, which is gone afterwards. Within one file system
  // nothing is copied.
  Status take(const std::string& from);
  // Makes the written bytes the content of the target; the last call.
  Status commit();

 private:
  AtomicFile(std::string path, std::string target, std::string part, int fd);
  Status flush();

  std::string path_;    // as the user wrote it, for messages
  std::string target_;  // with symbolic links followed
  std::string part_;    // the file beside it; empty when the target is written directly
  int fd_ = -1;
  std::string buffer_;
};

Status write_file_atomically(const std::string& path, std::string_view bytes);

// The error of a failed system call on a file that should be written: says what went wrong in plain
// words and what to do about it.
Error write_error(const std::string& path, int error_number);

}  // namespace attune
