#include "runtime/memory/tensor.h"

#include <cstring>
#include <utility>

namespace attune::runtime {

DLDataType to_dlpack(DType type) {
  const auto bits = static_cast<std::uint8_t>(byte_size(type) * 8);
  switch (type) {
    case DType::F32:
    case DType::F16:
    case DType::F64:
      return {kDLFloat, bits, 1};
    case DType::BF16:
      return {kDLBfloat, bits, 1};
    case DType::I8:
    case DType::I16:
    case DType::I32:
    case DType::I64:
      return {kDLInt, bits, 1};
    case DType::U8:
    case DType::U16:
    case DType::U32:
    case DType::U64:
      return {kDLUInt, bits, 1};
    case DType::Bool:
      return {kDLBool, bits, 1};
  }
  CHECK(false, "unknown element type");
}

Result<DType> from_dlpack(DLDataType type) {
  for (int number = 0; number < kDTypeCount; ++number) {
    const auto known = static_cast<DType>(number);
    const DLDataType form = to_dlpack(known);
    if (form.code == type.code && form.bits == type.bits && form.lanes == type.lanes) return known;
  }
  return unsupported(
      "tensor type with code " + std::to_string(type.code) + ", " + std::to_string(type.bits) +
          " bits and " + std::to_string(type.lanes) + " lanes is not supported",
      "convert it to a float of 16, 32 or 64 bits, bf16, an integer of 8 to 64 bits, or bool");
}

std::string shape_text(std::span<const std::int64_t> shape) {
  if (shape.empty()) return "scalar";
  std::string text;
  for (std::int64_t extent : shape) {
    if (!text.empty()) text += 'x';
    text += std::to_string(extent);
  }
  return text;
}

Result<std::int64_t> checked_bytes(DType type, std::span<const std::int64_t> shape) {
  auto bytes = static_cast<std::int64_t>(byte_size(type));
  bool overflow = false;
  bool empty = false;
  for (std::int64_t extent : shape) {
    if (extent < 0) {
      return invalid("shape " + shape_text(shape) + " has the negative extent " +
                     std::to_string(extent));
    }
    empty = empty || extent == 0;
    overflow = overflow || __builtin_mul_overflow(bytes, extent, &bytes);
  }
  if (empty) return std::int64_t{0};
  if (overflow) {
    return invalid("a tensor of shape " + shape_text(shape) + " needs more than 2^63 bytes",
                   "use smaller extents");
  }
  return bytes;
}

Result<Tensor> Tensor::allocate(DType type, std::vector<std::int64_t> shape) {
  ATTUNE_ASSIGN(const std::int64_t bytes, checked_bytes(type, shape));
  Tensor tensor;
  ATTUNE_ASSIGN(tensor.memory_, Memory::allocate(static_cast<std::size_t>(bytes)));
  tensor.type_ = type;
  tensor.elements_ = bytes / static_cast<std::int64_t>(byte_size(type));
  tensor.shape_ = std::move(shape);
  return tensor;
}

Result<Tensor> Tensor::copy_of(const DLTensor& source) {
  if (source.device.device_type != kDLCPU) {
    return unsupported("tensor lives on device type " + std::to_string(source.device.device_type) +
                           ", only CPU tensors can be copied",
                       "copy it to the CPU first");
  }
  ATTUNE_ASSIGN(const DType type, from_dlpack(source.dtype));
  std::vector<std::int64_t> shape(source.shape, source.shape + source.ndim);
  ATTUNE_ASSIGN(Tensor tensor, allocate(type, std::move(shape)));
  const char* from = static_cast<const char*>(source.data) + source.byte_offset;
  const std::size_t width = byte_size(type);
  if (source.strides == nullptr) {
    if (tensor.bytes() > 0) std::memcpy(tensor.data(), from, tensor.bytes());
    return tensor;
  }
  std::vector<std::int64_t> index(tensor.shape_.size(), 0);
  for (std::int64_t i = 0; i < tensor.elements_; ++i) {
    std::int64_t offset = 0;
    for (std::size_t d = 0; d < index.size(); ++d) offset += index[d] * source.strides[d];
    std::memcpy(static_cast<char*>(tensor.data()) + static_cast<std::size_t>(i) * width,
                from + offset * static_cast<std::int64_t>(width), width);
    for (std::size_t d = index.size(); d-- > 0;) {
      if (++index[d] < tensor.shape_[d]) break;
      index[d] = 0;
    }
  }
  return tensor;
}

DLTensor Tensor::view() {
  return {.data = data(),
          .device = {kDLCPU, 0},
          .ndim = static_cast<std::int32_t>(shape_.size()),
          .dtype = to_dlpack(type_),
          .shape = shape_.data(),
          .strides = nullptr,
          .byte_offset = 0};
}

DLManagedTensor* Tensor::release() && {
  auto* owner = new Tensor(std::move(*this));
  auto* managed = new DLManagedTensor;
  managed->dl_tensor = owner->view();
  managed->manager_ctx = owner;
  managed->deleter = [](DLManagedTensor* self) {
    delete static_cast<Tensor*>(self->manager_ctx);
    delete self;
  };
  return managed;
}

}  // namespace attune::runtime
