#include "app/api/plain_tensor.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "compiler/ops/forms/blocked_layout.h"

namespace attune::api {
namespace {

using runtime::DType;
using runtime::Tensor;

Result<Tensor> as_bfloat16(const Tensor& source) {
  ATTUNE_ASSIGN(Tensor rounded,
                Tensor::allocate(DType::BF16, {source.shape().begin(), source.shape().end()}));
  for (std::int64_t i = 0; i < source.elements(); ++i) {
    runtime::write_element(rounded.data(), DType::BF16, i,
                           runtime::read_element(source.data(), source.type(), i));
  }
  return rounded;
}

}  // namespace

PlainView::PlainView(const ir::Buffer& buffer, const std::vector<ops::BlockedTensor>& blocked)
    : operator_shape_(buffer->shape), shape_(buffer->shape) {
  for (const ops::BlockedTensor& tensor : blocked) {
    if (tensor.name != buffer->name) continue;
    channels_ = tensor.channels;
    shape_ = ops::plain_shape(operator_shape_, channels_);
  }
}

Status PlainView::load(const Tensor& plain, Tensor& into, const std::string& name,
                       const std::string& path) const {
  if (into.type() == DType::BF16 && plain.type() == DType::F32) {
    ATTUNE_ASSIGN(const Tensor rounded, as_bfloat16(plain));
    return load(rounded, into, name, path);
  }
  if (plain.type() != into.type()) {
    return invalid(fmt::format("'{}' holds {}, but input '{}' is {}", path,
                               runtime::name_of(plain.type()), name, runtime::name_of(into.type())),
                   "convert it in NumPy with .astype(…)");
  }
  if (!std::equal(plain.shape().begin(), plain.shape().end(), shape_.begin(), shape_.end())) {
    return invalid(fmt::format("'{}' has shape {}, but input '{}' is {}", path,
                               runtime::shape_text(plain.shape()), name,
                               runtime::shape_text(shape_)));
  }
  if (channels_ == 0) {
    if (plain.bytes() > 0) std::memcpy(into.data(), plain.data(), plain.bytes());
    return {};
  }
  ops::pack_channels(operator_shape_, channels_, runtime::byte_size(plain.type()),
                     plain.as<const std::byte>(), into.as<std::byte>());
  return {};
}

Result<Tensor> PlainView::store(const Tensor& from) const {
  ATTUNE_ASSIGN(Tensor plain, Tensor::allocate(from.type(), shape_));
  if (channels_ == 0) {
    if (plain.bytes() > 0) std::memcpy(plain.data(), from.data(), plain.bytes());
    return plain;
  }
  ops::unpack_channels(operator_shape_, channels_, runtime::byte_size(from.type()),
                       from.as<const std::byte>(), plain.as<std::byte>());
  return plain;
}

}  // namespace attune::api
