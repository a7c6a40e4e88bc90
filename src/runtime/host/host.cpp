#include "runtime/host/host.h"

#include <algorithm>
#include <string>

#include "runtime/host/operators.h"
#include "runtime/memory/tensor.h"

namespace attune::runtime {

Shape::Shape(std::span<const std::int64_t> extents) : rank_(extents.size()) {
  CHECK(extents.size() <= kMaxRank, "a tensor has more dimensions than the runtime allows");
  std::copy(extents.begin(), extents.end(), extents_.begin());
}

void Shape::push_back(std::int64_t extent) {
  CHECK(rank_ < kMaxRank, "a tensor has more dimensions than the runtime allows");
  extents_[rank_++] = extent;
}

std::int64_t Shape::elements() const {
  std::int64_t product = 1;
  for (const std::int64_t extent : span()) product *= extent;
  return product;
}

bool Shape::operator==(const Shape& other) const {
  return std::equal(span().begin(), span().end(), other.span().begin(), other.span().end());
}

namespace {

const host::Operator* find_operator(std::string_view op) {
  for (const host::Operator& known : host::operators()) {
    if (known.name == op) return &known;
  }
  return nullptr;
}

}  // namespace

bool has_host(std::string_view op) { return find_operator(op) != nullptr; }

Status run_host(std::string_view op, const HostAttributes& attributes,
                std::span<const HostTensor> inputs, std::span<HostTensor> outputs) {
  const host::Operator* found = find_operator(op);
  if (found == nullptr) {
    return unsupported("there is no host operator '" + std::string(op) + "'");
  }
  return found->run({found->name, attributes, inputs, outputs});
}

}  // namespace attune::runtime
