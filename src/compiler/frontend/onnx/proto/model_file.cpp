#include "compiler/frontend/onnx/proto/model_file.h"

#include <fmt/format.h>
#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>

#include <cstdint>
#include <limits>
#include <map>
#include <string_view>
#include <utility>

#include "base/atomic_file.h"
#include "compiler/frontend/onnx/proto/external_data.h"
#include "compiler/frontend/onnx/proto/mapped_file.h"
#include "compiler/frontend/onnx/proto/onnx.pb.h"
#include "compiler/frontend/onnx/proto/wire_scan.h"

namespace attune::onnx_proto {

struct ModelFile::Content {
  std::string path;
  ::onnx::ModelProto model;
  std::shared_ptr<const MappedFile> file;
  std::map<std::string, std::shared_ptr<const MappedFile>> external;  // by location
};

namespace {

constexpr std::size_t kLargestFile = std::numeric_limits<std::int32_t>::max();
constexpr std::string_view kPointerBegin = "version https://git-lfs";

Error not_a(std::string_view what, const std::string& path, const Error& reason) {
  return {reason.code, fmt::format("cannot read '{}' as {}: {}", path, what, reason.message),
          reason.hint};
}

Status check_size(const std::string& path, std::span<const std::byte> bytes) {
  if (bytes.empty()) return Error{ErrorCode::Corrupt, fmt::format("'{}' is empty", path), {}};
  if (bytes.size() > kLargestFile) {
    return unsupported(
        fmt::format("'{}' has {} bytes, an ONNX file at most {}", path, bytes.size(), kLargestFile),
        "export the model with its weights as external data");
  }
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  if (text.starts_with(kPointerBegin)) {
    return invalid(fmt::format("'{}' is a pointer of Git LFS, not the file itself", path),
                   "fetch the file by `git lfs pull`");
  }
  return {};
}

// Parses a file into `message`; what is large stays in the file.
template <typename Message>
Status parse(std::span<const std::byte> bytes, Root root, Message& message) {
  ATTUNE_ASSIGN(const std::string small, without_large_data(bytes, root));
  google::protobuf::io::CodedInputStream input(reinterpret_cast<const std::uint8_t*>(small.data()),
                                               static_cast<int>(small.size()));
  input.SetTotalBytesLimit(std::numeric_limits<int>::max());
  input.SetRecursionLimit(kDeepestNesting);
  if (!message.ParseFromCodedStream(&input) || !input.ConsumedEntireMessage()) {
    return Error{ErrorCode::Corrupt, "its messages are damaged or nested too deep", {}};
  }
  return {};
}

Result<std::span<const std::byte>> mapped_part(const ::onnx::TensorProto& tensor,
                                               std::span<const std::byte> file) {
  const std::uint64_t offset = tensor.mapped_offset();
  const std::uint64_t length = tensor.mapped_length();
  if (offset > file.size() || length > file.size() - offset) {
    return Error{
        ErrorCode::Corrupt, fmt::format("tensor '{}' lies outside of the file", tensor.name()), {}};
  }
  return file.subspan(offset, length);
}

std::span<const std::byte> bytes_of(const std::string& text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

// Opens every file that a tensor of the model keeps its data in.
Status open_external(const ::onnx::ModelProto& model, const std::string& model_path,
                     std::map<std::string, std::shared_ptr<const MappedFile>>& files) {
  return for_each_tensor(model, [&](const ::onnx::TensorProto& tensor) -> Status {
    if (tensor.data_location() != ::onnx::TensorProto::EXTERNAL) return {};
    ATTUNE_ASSIGN(const ExternalLocation location, external_location(tensor));
    auto& file = files[location.file];
    if (!file) {
      auto opened = MappedFile::open_beside(model_path, location.file);
      if (!opened.ok()) {
        Error error = std::move(opened).error();
        error.message += fmt::format(", which holds the data of tensor '{}'", tensor.name());
        if (error.code == ErrorCode::NotFound) error.hint = "put the file beside the model";
        return error;
      }
      file = std::move(opened).value();
    }
    auto part = external_part(tensor, location, file->bytes());
    return part.ok() ? Status() : Status(std::move(part).error());
  });
}

// Lets protobuf write into an AtomicFile; remembers the first error.
class FileStream : public google::protobuf::io::CopyingOutputStream {
 public:
  explicit FileStream(AtomicFile& file) : file_(file) {}
  bool Write(const void* bytes, int size) override {
    status_ = file_.write({static_cast<const char*>(bytes), static_cast<std::size_t>(size)});
    return status_.ok();
  }
  const Status& status() const { return status_; }

 private:
  AtomicFile& file_;
  Status status_;
};

}  // namespace

ModelFile ModelFile::in_memory(::onnx::ModelProto model) {
  auto content = std::make_shared<Content>();
  content->model = std::move(model);
  return ModelFile(std::move(content));
}

const ::onnx::ModelProto& ModelFile::proto() const { return content_->model; }
const std::string& ModelFile::path() const { return content_->path; }
std::shared_ptr<const void> ModelFile::owner() const { return content_; }

std::vector<std::string> ModelFile::external_files() const {
  std::vector<std::string> names;
  for (const auto& [name, file] : content_->external) names.push_back(name);
  return names;
}

Result<std::span<const std::byte>> ModelFile::raw(const ::onnx::TensorProto& tensor) const {
  if (tensor.data_location() == ::onnx::TensorProto::EXTERNAL) {
    ATTUNE_ASSIGN(const ExternalLocation location, external_location(tensor));
    const auto file = content_->external.find(location.file);
    if (file == content_->external.end()) {
      return invalid(fmt::format("tensor '{}' keeps its data in '{}', but the model is not a file",
                                 tensor.name(), location.file));
    }
    return external_part(tensor, location, file->second->bytes());
  }
  if (tensor.has_mapped_offset()) {
    return mapped_part(tensor,
                       content_->file ? content_->file->bytes() : std::span<const std::byte>());
  }
  return bytes_of(tensor.raw_data());
}

Result<TensorBytes> ModelFile::tensor(const ::onnx::TensorProto& tensor) const {
  ATTUNE_ASSIGN(const auto bytes, raw(tensor));
  return tensor_bytes(tensor, bytes, owner());
}

Result<ModelFile> read_model(const std::string& path) {
  auto content = std::make_shared<ModelFile::Content>();
  content->path = path;
  ATTUNE_ASSIGN(content->file, MappedFile::open(path));
  const auto bytes = content->file->bytes();
  ATTUNE_RETURN_IF_ERROR(check_size(path, bytes));
  if (auto parsed = parse(bytes, Root::Model, content->model); !parsed.ok()) {
    return not_a("an ONNX model", path, parsed.error());
  }
  if (!content->model.has_graph()) {
    return Error{ErrorCode::Corrupt,
                 fmt::format("cannot read '{}' as an ONNX model: it holds no graph", path),
                 {}};
  }
  ATTUNE_RETURN_IF_ERROR(open_external(content->model, path, content->external));
  return ModelFile(std::move(content));
}

Result<TensorBytes> read_tensor(const std::string& path) {
  struct Content {
    std::shared_ptr<const MappedFile> file;
    ::onnx::TensorProto tensor;
  };
  auto content = std::make_shared<Content>();
  ATTUNE_ASSIGN(content->file, MappedFile::open(path));
  const auto bytes = content->file->bytes();
  ATTUNE_RETURN_IF_ERROR(check_size(path, bytes));
  ::onnx::TensorProto& tensor = content->tensor;
  if (auto parsed = parse(bytes, Root::Tensor, tensor); !parsed.ok()) {
    return not_a("an ONNX tensor", path, parsed.error());
  }
  if (tensor.data_location() == ::onnx::TensorProto::EXTERNAL) {
    return unsupported(fmt::format("the tensor in '{}' keeps its data in another file", path));
  }
  auto raw = bytes_of(tensor.raw_data());
  if (tensor.has_mapped_offset()) {
    ATTUNE_ASSIGN(raw, mapped_part(tensor, bytes));
  }
  auto result = tensor_bytes(tensor, raw, content);
  if (!result.ok()) return not_a("an ONNX tensor", path, result.error());
  return result;
}

Status write_model(const ::onnx::ModelProto& model, const std::string& path) {
  if (model.ByteSizeLong() > kLargestFile) {
    return unsupported(fmt::format("the model takes {} bytes, an ONNX file holds at most {}",
                                   model.ByteSizeLong(), kLargestFile));
  }
  ATTUNE_ASSIGN(AtomicFile file, AtomicFile::create(path));
  FileStream target(file);
  google::protobuf::io::CopyingOutputStreamAdaptor stream(&target, 1 << 20);
  const bool written = model.SerializeToZeroCopyStream(&stream) && stream.Flush();
  if (!target.status().ok()) return target.status();
  CHECK(written, "protobuf stopped writing without an error of the file");
  return file.commit();
}

}  // namespace attune::onnx_proto
