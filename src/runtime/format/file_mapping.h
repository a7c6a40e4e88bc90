// A file mapped into memory for reading; pages come in as they are touched.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "base/result.h"

namespace attune::runtime {

class FileMapping {
 public:
  FileMapping() = default;
  // Fails for what cannot be opened and for what is no regular file.
  static Result<FileMapping> open(const std::string& path);

  FileMapping(FileMapping&& other) noexcept;
  FileMapping& operator=(FileMapping&& other) noexcept;
  FileMapping(const FileMapping&) = delete;
  FileMapping& operator=(const FileMapping&) = delete;
  ~FileMapping();

  std::span<const std::byte> bytes() const {
    return {static_cast<const std::byte*>(data_), bytes_};
  }

 private:
  void* data_ = nullptr;
  std::size_t bytes_ = 0;
};

}  // namespace attune::runtime
