#include "compiler/frontend/onnx/proto/mapped_file.h"

#include <fmt/format.h>
#include <sys/mman.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

namespace attune::onnx_proto {
namespace {

// Models are what people name most often.
Error in_words(const std::string& path, Error error) {
  if (error.code != ErrorCode::NotFound) return error;
  return {ErrorCode::NotFound, fmt::format("there is no file '{}'", path), "check the path"};
}

}  // namespace

Result<std::shared_ptr<const MappedFile>> MappedFile::open(const std::string& path) {
  Result<InputFile> file = InputFile::open(path);
  if (!file.ok()) return in_words(path, std::move(file).error());
  return of(*file, path);
}

Result<std::shared_ptr<const MappedFile>> MappedFile::open_beside(const std::string& model,
                                                                  const std::string& relative) {
  namespace fs = std::filesystem;
  const fs::path folder = fs::path(model).parent_path();
  std::error_code failure;
  const fs::path real = fs::canonical(model, failure);
  std::vector<std::string> others;
  if (!failure) others.push_back(real.parent_path().string());
  const std::string path = (folder / relative).string();
  Result<InputFile> file = InputFile::open_below(folder.string(), relative, others);
  if (!file.ok()) return in_words(path, std::move(file).error());
  return of(*file, path);
}

Result<std::shared_ptr<const MappedFile>> MappedFile::of(const InputFile& file,
                                                         const std::string& path) {
  const auto size = static_cast<std::size_t>(file.size());
  std::span<const std::byte> bytes;
  if (size > 0) {
    void* address = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.descriptor(), 0);
    if (address == MAP_FAILED) {
      return Error{
          ErrorCode::Io, fmt::format("cannot read '{}': {}", path, std::strerror(errno)), {}};
    }
    bytes = {static_cast<const std::byte*>(address), size};
  }
  return std::shared_ptr<const MappedFile>(new MappedFile(bytes));
}

MappedFile::~MappedFile() {
  if (!bytes_.empty()) ::munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size());
}

}  // namespace attune::onnx_proto
