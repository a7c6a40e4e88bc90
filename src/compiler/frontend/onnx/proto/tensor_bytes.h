// The elements of a TensorProto as plain little-endian bytes, whichever of the many fields they
// were written to. Views where the bytes lie in the file as they are, copies where they must be
// converted.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"

namespace onnx {
class TensorProto;
}

namespace attune::onnx_proto {

struct TensorBytes {
  std::string name;
  std::int32_t data_type = 0;  // onnx::TensorProto::DataType
  std::vector<std::int64_t> dims;
  std::span<const std::byte> bytes;   // row-major; may begin at any address: read it by memcpy
  std::shared_ptr<const void> owner;  // keeps `bytes` alive

  std::int64_t elements() const;
};

// "float32" for FLOAT and so on; "type 99" for a number that ONNX does not define.
std::string data_type_name(std::int32_t data_type);

// The bytes of `tensor`, whose raw_data is `raw` (empty: it has none) and lives as long as `owner`.
// The number of elements must be what the dimensions say.
Result<TensorBytes> tensor_bytes(const ::onnx::TensorProto& tensor, std::span<const std::byte> raw,
                                 std::shared_ptr<const void> owner);

}  // namespace attune::onnx_proto
