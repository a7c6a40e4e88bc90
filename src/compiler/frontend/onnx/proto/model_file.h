// ONNX models and tensors as files: read without copying the weights, written whole or not at all.
// A ModelFile is a cheap handle; weights are views that live as long as its owner().
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "compiler/frontend/onnx/proto/tensor_bytes.h"

namespace onnx {
class ModelProto;
class TensorProto;
}  // namespace onnx

namespace attune::onnx_proto {

class ModelFile {
 public:
  // A model that was built in memory.
  static ModelFile in_memory(::onnx::ModelProto model);

  // The model; large raw_data fields are empty in it, see raw().
  const ::onnx::ModelProto& proto() const;
  // Where it was read from; empty for one built in memory.
  const std::string& path() const;

  // Files beside it that hold tensors, relative to its folder.
  std::vector<std::string> external_files() const;

  // The raw_data of a tensor of this model, from wherever it lies: the message, the mapped file or
  // a file beside it. Empty for a tensor whose elements are in typed fields (float_data, …).
  Result<std::span<const std::byte>> raw(const ::onnx::TensorProto& tensor) const;
  // The elements of a tensor of this model, from raw data or typed fields.
  Result<TensorBytes> tensor(const ::onnx::TensorProto& tensor) const;
  // Keeps proto() and all views alive.
  std::shared_ptr<const void> owner() const;

 private:
  struct Content;
  friend Result<ModelFile> read_model(const std::string& path);

  explicit ModelFile(std::shared_ptr<const Content> content) : content_(std::move(content)) {}

  std::shared_ptr<const Content> content_;
};

// Reads a model; files with external data are opened too, so that a missing one shows here.
Result<ModelFile> read_model(const std::string& path);

// Reads a file that holds one TensorProto, as in the test data of ONNX.
Result<TensorBytes> read_tensor(const std::string& path);

// Writes a model built in memory.
Status write_model(const ::onnx::ModelProto& model, const std::string& path);

}  // namespace attune::onnx_proto
