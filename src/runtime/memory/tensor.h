// An owning, compact, row-major tensor in CPU memory aligned to 64 bytes, exchanged with the
// outside through the DLPack structs.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "runtime/memory/dlpack_abi.h"
#include "runtime/memory/dtype.h"
#include "runtime/memory/memory.h"

namespace attune::runtime {

DLDataType to_dlpack(DType type);
// Unsupported for types that Attune does not know, among them vectors (lanes other than 1).
Result<DType> from_dlpack(DLDataType type);

// Product of the extents, checked: fails for a negative extent and for more elements or bytes than
// fit a signed 64-bit number. An empty shape is a scalar.
Result<std::int64_t> checked_bytes(DType type, std::span<const std::int64_t> shape);
// "2x3x4"; "scalar" for an empty shape.
std::string shape_text(std::span<const std::int64_t> shape);

class Tensor {
 public:
  Tensor() = default;
  // Zeroed contents.
  static Result<Tensor> allocate(DType type, std::vector<std::int64_t> shape);
  // A copy of a CPU tensor of any strides.
  static Result<Tensor> copy_of(const DLTensor& source);

  DType type() const { return type_; }
  std::span<const std::int64_t> shape() const { return shape_; }
  std::int64_t elements() const { return elements_; }
  std::size_t bytes() const { return memory_.bytes(); }
  void* data() const { return memory_.data(); }
  template <typename T>
  std::span<T> as() const {
    return {static_cast<T*>(memory_.data()), bytes() / sizeof(T)};
  }

  // A view that lives as long as this tensor.
  DLTensor view();
  // Gives the memory away; the receiver calls the deleter once.
  DLManagedTensor* release() &&;

 private:
  DType type_ = DType::F32;
  std::vector<std::int64_t> shape_;
  std::int64_t elements_ = 0;
  Memory memory_;
};

}  // namespace attune::runtime
