#include "compiler/model/load/plain_tensor.h"

#include <cstring>
#include <memory>
#include <utility>

#include "compiler/kernel/element_type.h"
#include "compiler/ops/forms/blocked_layout.h"

namespace attune::model {

using runtime::InterfaceTensor;
using runtime::Tensor;

std::vector<std::int64_t> largest_shape(const InterfaceTensor& tensor) {
  std::vector<std::int64_t> shape;
  for (const runtime::Dim& dim : tensor.dims) shape.push_back(dim.maximum);
  return shape;
}

std::vector<std::int64_t> plain_shape(const InterfaceTensor& tensor) {
  const std::vector<std::int64_t> taken = largest_shape(tensor);
  return tensor.channels == 0 ? taken : ops::plain_shape(taken, tensor.channels);
}

Result<Tensor> from_plain(const InterfaceTensor& tensor, Tensor plain) {
  if (tensor.channels == 0) return plain;
  const std::vector<std::int64_t> shape = largest_shape(tensor);
  ATTUNE_ASSIGN(Tensor taken, Tensor::allocate(tensor.type, shape));
  ops::pack_channels(shape, tensor.channels, runtime::byte_size(tensor.type),
                     plain.as<const std::byte>(), taken.as<std::byte>());
  return taken;
}

Result<Tensor> to_plain(const InterfaceTensor& tensor, Tensor taken) {
  if (tensor.channels == 0) return taken;
  ATTUNE_ASSIGN(Tensor plain, Tensor::allocate(tensor.type, plain_shape(tensor)));
  ops::unpack_channels(largest_shape(tensor), tensor.channels, runtime::byte_size(tensor.type),
                       taken.as<const std::byte>(), plain.as<std::byte>());
  return plain;
}

Result<Tensor> tensor_of(const ops::Constant& constant) {
  ATTUNE_ASSIGN(const runtime::DType type, kernel::element_type(constant.type.dtype));
  ATTUNE_ASSIGN(Tensor tensor, Tensor::allocate(type, constant.type.shape));
  if (tensor.bytes() > 0) std::memcpy(tensor.data(), constant.bytes.data(), tensor.bytes());
  return tensor;
}

ops::ConstantPtr constant_of(Tensor tensor, const ops::TensorType& type) {
  const auto owner = std::make_shared<const Tensor>(std::move(tensor));
  ops::TensorType actual{type.dtype, {owner->shape().begin(), owner->shape().end()}, {}};
  const std::span contents(static_cast<const std::byte*>(owner->data()), owner->bytes());
  return std::make_shared<const ops::Constant>(ops::Constant{std::move(actual), contents, owner});
}

}  // namespace attune::model
