// Host operators: those whose result sizes or places of writing depend on data, and shape-generic
// versions of plain ones for graphs behind them. Each takes and gives plain row-major tensors with
// their actual shapes, in the semantics of ONNX; the executor calls them, and so does the compiler
// for constants. One file per operator, one list (operators.cpp).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "base/result.h"
#include "runtime/format/plan.h"
#include "runtime/memory/dtype.h"

namespace attune::runtime {

// A shape held in place, so that running allocates nothing.
class Shape {
 public:
  Shape() = default;
  Shape(std::span<const std::int64_t> extents);  // at most kMaxRank
  Shape(std::initializer_list<std::int64_t> extents)
      : Shape(std::span(extents.begin(), extents.size())) {}

  std::size_t rank() const { return rank_; }
  std::int64_t& operator[](std::size_t axis) { return extents_[axis]; }
  std::int64_t operator[](std::size_t axis) const { return extents_[axis]; }
  std::span<const std::int64_t> span() const { return {extents_.data(), rank_}; }
  void push_back(std::int64_t extent);  // at most kMaxRank
  // Product of the extents; those of a HostTensor are known to fit.
  std::int64_t elements() const;
  bool operator==(const Shape& other) const;

 private:
  std::array<std::int64_t, kMaxRank> extents_ = {};
  std::size_t rank_ = 0;
};

// `data` of a left-out optional input is null and `present` false. An output comes with room for
// `capacity_bytes` and the shape that is expected at most; the operator sets the actual shape.
struct HostTensor {
  DType type = DType::F32;
  Shape shape;
  void* data = nullptr;
  std::int64_t capacity_bytes = 0;
  bool present = true;
};

bool has_host(std::string_view op);
// Runs the operator. Fails for unknown operators, wrong types or shapes, indices out of range, and
// where an output does not fit its room; outputs are then undefined.
Status run_host(std::string_view op, const HostAttributes& attributes,
                std::span<const HostTensor> inputs, std::span<HostTensor> outputs);

}  // namespace attune::runtime
