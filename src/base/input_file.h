// Files that come from anywhere. Only regular files are opened, so that nothing waits for a pipe or
// reads a device for ever, and nobody reads more of one than a limit, however it grows meanwhile.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"

namespace attune {

class InputFile {
 public:
  // Errors say which file and why; NotFound where there is none.
  static Result<InputFile> open(const std::string& path);

  // A file that something in `folder` names by a path relative to it. Where links lead, too, it
  // must lie below that folder or below one of `others`. `path` as in messages is folder/relative.
  static Result<InputFile> open_below(const std::string& folder, const std::string& relative,
                                      const std::vector<std::string>& others = {});

  InputFile(InputFile&& other) noexcept;
  InputFile& operator=(InputFile&& other) noexcept;
  ~InputFile();

  int descriptor() const { return descriptor_; }
  std::uint64_t size() const { return size_; }  // when it was opened

  // All of it; fails for files of more than `most` bytes.
  Result<std::string> read(std::uint64_t most) const;

 private:
  InputFile(std::string path, int descriptor) : path_(std::move(path)), descriptor_(descriptor) {}
  static Result<InputFile> take(std::string path, int descriptor);

  std::string path_;
  int descriptor_ = -1;
  std::uint64_t size_ = 0;
};

}  // namespace attune
