// A file in memory, read-only, for as long as somebody holds it.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include "base/input_file.h"
#include "base/result.h"

namespace attune::onnx_proto {

class MappedFile {
 public:
  // Fails with the reason when the path is no readable regular file.
  static Result<std::shared_ptr<const MappedFile>> open(const std::string& path);
  // A file that a model names, relative to its folder. It lies in there, whatever links it is
  // reached by, or where the model itself does if that is a link.
  static Result<std::shared_ptr<const MappedFile>> open_beside(const std::string& model,
                                                               const std::string& relative);

  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;
  ~MappedFile();

  std::span<const std::byte> bytes() const { return bytes_; }

 private:
  explicit MappedFile(std::span<const std::byte> bytes) : bytes_(bytes) {}
  static Result<std::shared_ptr<const MappedFile>> of(const InputFile& file,
                                                      const std::string& path);

  std::span<const std::byte> bytes_;
};

}  // namespace attune::onnx_proto
