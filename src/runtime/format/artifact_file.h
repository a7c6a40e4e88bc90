// The bytes of an artifact's file. They are read into huge pages of our own, where nobody can
// change or cut them any more; one range (large weights) may stay mapped, so that processes share
// it and pages come in as they are touched. When the file is cut or written to meanwhile,
// check_unchanged() says so; what was read before and after is then worth nothing.
#pragma once

#include <sys/stat.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "base/result.h"
#include "runtime/format/cut_guard.h"
#include "runtime/memory/memory.h"

namespace attune::runtime {

struct FileRange {
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
};

class ArtifactFile {
 public:
  ArtifactFile() = default;
  // Fails for what cannot be opened and for what is no regular file.
  static Result<ArtifactFile> open(const std::string& path);

  ArtifactFile(ArtifactFile&& other) noexcept;
  ArtifactFile& operator=(ArtifactFile&& other) noexcept;
  ArtifactFile(const ArtifactFile&) = delete;
  ArtifactFile& operator=(const ArtifactFile&) = delete;
  ~ArtifactFile();

  std::uint64_t file_bytes() const { return bytes_; }
  // Copies bytes from the file; an error when there are not as many.
  Status read(std::uint64_t offset, std::span<std::byte> to) const;
  // Brings all of the file into memory, where bytes() then is, read only; but for the whole pages
  // of `mapped`, which stay in the file.
  Status load(const FileRange& mapped);
  std::span<const std::byte> bytes() const { return {data_, bytes_}; }

  // An error when a part is mapped and the file is no longer as it was. To be asked before and
  // after that is read.
  Status check_unchanged() const;

 private:
  Status load_all();
  Status read_in_place(std::uint64_t begin, std::uint64_t end);
  void close_descriptor();

  std::string path_ = {};
  int descriptor_ = -1;  // after loading only while a part is mapped
  struct stat opened_ = {};
  std::byte* data_ = nullptr;
  std::uint64_t bytes_ = 0;
  Memory memory_ = {};   // where nothing is mapped
  CutGuard guard_ = {};  // of what is mapped
};

}  // namespace attune::runtime
