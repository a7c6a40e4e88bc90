// Tensors of ONNX files as constants of graphs.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstring>

#include "compiler/frontend/onnx/scope.h"

namespace attune::onnx {

Result<ir::DType> element_type(std::int32_t data_type) {
  switch (data_type) {
    case ::onnx::TensorProto::FLOAT:
      return ir::kF32;
    case ::onnx::TensorProto::DOUBLE:
      return ir::kF64;
    case ::onnx::TensorProto::FLOAT16:
      return ir::kF16;
    case ::onnx::TensorProto::BFLOAT16:
      return ir::kBF16;
    case ::onnx::TensorProto::INT8:
      return ir::kI8;
    case ::onnx::TensorProto::INT16:
      return ir::kI16;
    case ::onnx::TensorProto::INT32:
      return ir::kI32;
    case ::onnx::TensorProto::INT64:
      return ir::kI64;
    case ::onnx::TensorProto::UINT8:
      return ir::kU8;
    case ::onnx::TensorProto::UINT16:
      return ir::kU16;
    case ::onnx::TensorProto::UINT32:
      return ir::kU32;
    case ::onnx::TensorProto::UINT64:
      return ir::kU64;
    case ::onnx::TensorProto::BOOL:
      return ir::kBool;
    default:
      return unsupported(fmt::format("tensors of {} elements are not supported",
                                     onnx_proto::data_type_name(data_type)));
  }
}

Result<ConstantPtr> constant_of(const onnx_proto::TensorBytes& tensor) {
  ATTUNE_ASSIGN(const ir::DType type, element_type(tensor.data_type));
  TensorType shaped{type, tensor.dims, {}};
  if (static_cast<std::int64_t>(tensor.bytes.size()) != shaped.bytes()) {
    return invalid(fmt::format("{} bytes of data do not make a tensor {}", tensor.bytes.size(),
                               ops::to_string(shaped)));
  }
  return std::make_shared<const ops::Constant>(
      ops::Constant{std::move(shaped), tensor.bytes, tensor.owner});
}

Result<ConstantPtr> constant_of(const onnx_proto::ModelFile& file,
                                const ::onnx::TensorProto& proto) {
  ATTUNE_RETURN_IF_ERROR([&]() -> Status {
    auto type = element_type(proto.data_type());
    return type.ok() ? Status() : Status(type.error());
  }());
  ATTUNE_ASSIGN(const onnx_proto::TensorBytes bytes, file.tensor(proto));
  return constant_of(bytes);
}

namespace {

// Row-major positions of the values: the indices as they are, or rows of coordinates.
Result<std::vector<std::int64_t>> positions_of(const ops::Constant& indices,
                                               const std::vector<std::int64_t>& dims) {
  const std::vector<std::int64_t> numbers = ops::integers(indices);
  if (indices.type.rank() == 1) return numbers;
  const std::size_t rank = dims.size();
  if (rank == 0 || indices.type.rank() != 2 ||
      indices.type.shape[1] != static_cast<std::int64_t>(rank)) {
    return invalid(fmt::format("indices {} do not fit a sparse tensor of {} dimensions",
                               ops::to_string(indices.type), rank));
  }
  std::vector<std::int64_t> positions;
  for (std::size_t row = 0; row < numbers.size(); row += rank) {
    std::int64_t position = 0;
    for (std::size_t d = 0; d < rank; ++d) position = position * dims[d] + numbers[row + d];
    positions.push_back(position);
  }
  return positions;
}

}  // namespace

Result<ConstantPtr> constant_of(const onnx_proto::ModelFile& file,
                                const ::onnx::SparseTensorProto& proto, std::int64_t& bytes_left) {
  ATTUNE_ASSIGN(const ConstantPtr values, constant_of(file, proto.values()));
  ATTUNE_ASSIGN(const ConstantPtr indices, constant_of(file, proto.indices()));
  const std::vector<std::int64_t> dims(proto.dims().begin(), proto.dims().end());
  const std::int64_t most = bytes_left / values->type.dtype.element_bytes();
  std::int64_t count = 1;
  for (const std::int64_t extent : dims) {
    if (extent < 0 || __builtin_mul_overflow(count, extent, &count) || count > most) {
      return invalid(
          fmt::format("a sparse tensor of shape [{}] is too large", fmt::join(dims, ",")));
    }
  }
  bytes_left -= count * values->type.dtype.element_bytes();
  ATTUNE_ASSIGN(const std::vector<std::int64_t> positions, positions_of(*indices, dims));
  if (static_cast<std::int64_t>(positions.size()) != values->type.elements()) {
    return invalid(fmt::format("a sparse tensor has {} values and {} indices",
                               values->type.elements(), positions.size()));
  }
  ir::Array dense(values->type.dtype, dims);
  const auto bytes = static_cast<std::size_t>(values->type.dtype.element_bytes());
  for (std::size_t i = 0; i < positions.size(); ++i) {
    if (positions[i] < 0 || positions[i] >= count) {
      return invalid(fmt::format("index {} of a sparse tensor is not in its {} elements",
                                 positions[i], count));
    }
    std::memcpy(dense.data.data() + static_cast<std::size_t>(positions[i]) * bytes,
                values->bytes.data() + i * bytes, bytes);
  }
  return ops::make_constant(std::move(dense));
}

}  // namespace attune::onnx
