// What protobuf must not see of a model file: the large raw_data fields. A scan over the wire
// format copies the model's bytes without them, and puts in their place where they lie in the file
// (TensorProto.mapped_offset and mapped_length), so that weights are never copied.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "base/result.h"

namespace attune::onnx_proto {

// Messages inside messages; each subgraph of an operator takes three.
inline constexpr int kDeepestNesting = 600;
// raw_data up to this size stays where it is.
inline constexpr std::size_t kLargeRawBytes = 1024;

// The root message of a file.
enum class Root { Model, Tensor };

// The bytes of a message without its large raw_data fields. The error says at which byte the
// message ends before its time or is none at all.
Result<std::string> without_large_data(std::span<const std::byte> file, Root root);

}  // namespace attune::onnx_proto
