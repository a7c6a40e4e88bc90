// How a host operator is written: a function of one Call. The list of all of them is operators.cpp.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "runtime/host/host.h"

namespace attune::runtime::host {

// A list of numbers that may be left out.
class Integers {
 public:
  using List = std::vector<std::int64_t>;

  Integers() = default;
  Integers(List values) : values_(std::move(values)), given_(true) {}

  explicit operator bool() const { return given_; }
  const List& operator*() const { return values_; }
  List& operator*() { return values_; }
  const List* operator->() const { return &values_; }
  List* operator->() { return &values_; }
  template <typename... Arguments>
  void emplace(Arguments... arguments) {
    *this = List(arguments...);
  }

 private:
  List values_;
  bool given_ = false;
};

struct Call {
  std::string_view op;
  const HostAttributes& attributes;
  std::span<const HostTensor> inputs;
  std::span<HostTensor> outputs;

  // InvalidArgument "OP: why".
  Error bad(const std::string& why) const;
  // That the first `required` inputs are there, no more than `most` in all, and as many outputs.
  Status takes(std::size_t required, std::size_t most, std::size_t outputs_at_most = 1) const;

  bool has_input(std::size_t index) const { return index < inputs.size() && inputs[index].present; }
  bool has_output(std::size_t index) const {
    return index < outputs.size() && outputs[index].present;
  }

  // Attributes; what is not there or of another kind reads as `otherwise`.
  std::int64_t integer(std::string_view name, std::int64_t otherwise) const;
  double real(std::string_view name, double otherwise) const;
  std::string_view text(std::string_view name, std::string_view otherwise) const;
  Integers integers(std::string_view name) const;
  // What newer ONNX versions pass as an input and older ones as an attribute: the elements of the
  // integer tensor `index` if it is there, else the attribute, else nothing.
  Result<Integers> integers(std::size_t index, std::string_view name) const;

  // Makes output `index` a tensor of that type and shape; fails where its type is another or its
  // room too small. Nothing to do for an output that is left out.
  Status shape_output(std::size_t index, DType type, const Shape& shape) const;
  // An axis in [0, rank) from one in [-rank, rank).
  Result<std::size_t> axis(std::int64_t given, std::size_t rank) const;
};

struct Operator {
  std::string_view name;
  Status (*run)(const Call& call);
};

std::span<const Operator> operators();

}  // namespace attune::runtime::host
