// Weights that a model keeps in files beside it: which tensors do, and where their bytes lie.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>

#include "base/result.h"

namespace onnx {
class ModelProto;
class TensorProto;
}  // namespace onnx

namespace attune::onnx_proto {

// Calls `visit` for every tensor of the model: initialisers, attributes, in subgraphs and functions
// too. Stops at the first error.
Status for_each_tensor(const ::onnx::ModelProto& model,
                       const std::function<Status(const ::onnx::TensorProto&)>& visit);

struct ExternalLocation {
  std::string file;  // relative to the model's directory, does not leave it
  std::uint64_t offset = 0;
  std::optional<std::uint64_t> length;  // without: to the end of the file
};

// What the tensor's external_data entries say.
Result<ExternalLocation> external_location(const ::onnx::TensorProto& tensor);

// The tensor's part of the file's bytes.
Result<std::span<const std::byte>> external_part(const ::onnx::TensorProto& tensor,
                                                 const ExternalLocation& location,
                                                 std::span<const std::byte> file);

}  // namespace attune::onnx_proto
