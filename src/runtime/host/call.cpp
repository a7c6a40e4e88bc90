#include <string>

#include "runtime/host/elements.h"
#include "runtime/host/operators.h"
#include "runtime/memory/tensor.h"

namespace attune::runtime::host {
namespace {

template <typename T>
const T* find(const HostAttributes& attributes, std::string_view name) {
  const auto found = attributes.find(name);
  return found == attributes.end() ? nullptr : std::get_if<T>(&found->second);
}

}  // namespace

Error Call::bad(const std::string& why) const { return invalid(std::string(op) + ": " + why); }

Status Call::takes(std::size_t required, std::size_t most, std::size_t outputs_at_most) const {
  for (std::size_t i = 0; i < required; ++i) {
    if (!has_input(i)) return bad("input " + std::to_string(i) + " is missing");
  }
  if (inputs.size() > most || outputs.size() > outputs_at_most) {
    return bad("it has " + std::to_string(inputs.size()) + " inputs and " +
               std::to_string(outputs.size()) + " outputs");
  }
  return {};
}

std::int64_t Call::integer(std::string_view name, std::int64_t otherwise) const {
  const auto* value = find<std::int64_t>(attributes, name);
  return value != nullptr ? *value : otherwise;
}

double Call::real(std::string_view name, double otherwise) const {
  if (const auto* value = find<double>(attributes, name)) return *value;
  const auto* value = find<std::int64_t>(attributes, name);
  return value != nullptr ? static_cast<double>(*value) : otherwise;
}

std::string_view Call::text(std::string_view name, std::string_view otherwise) const {
  const auto* value = find<std::string>(attributes, name);
  return value != nullptr ? *value : otherwise;
}

Integers Call::integers(std::string_view name) const {
  const auto* value = find<std::vector<std::int64_t>>(attributes, name);
  return value != nullptr ? Integers(*value) : Integers();
}

Result<Integers> Call::integers(std::size_t index, std::string_view name) const {
  if (!has_input(index)) return integers(name);
  const HostTensor& tensor = inputs[index];
  if (is_float(tensor.type)) {
    return bad(std::string(name) + " is " + std::string(name_of(tensor.type)) +
               ", not whole numbers");
  }
  std::vector<std::int64_t> values(static_cast<std::size_t>(tensor.shape.elements()));
  load_integers(values.data(), tensor, 0, 1, std::ssize(values));
  return Integers(std::move(values));
}

Status Call::shape_output(std::size_t index, DType type, const Shape& shape) const {
  if (!has_output(index)) return {};
  HostTensor& output = outputs[index];
  if (output.type != type) {
    return bad("output " + std::to_string(index) + " is " + std::string(name_of(output.type)) +
               " and should be " + std::string(name_of(type)));
  }
  ATTUNE_ASSIGN(const std::int64_t bytes, checked_bytes(type, shape.span()));
  if (bytes > output.capacity_bytes) {
    return bad("output " + std::to_string(index) + " of shape " + shape_text(shape.span()) +
               " takes " + std::to_string(bytes) + " bytes, there is room for " +
               std::to_string(output.capacity_bytes));
  }
  output.shape = shape;
  return {};
}

Result<std::size_t> Call::axis(std::int64_t given, std::size_t rank) const {
  const auto signed_rank = static_cast<std::int64_t>(rank);
  if (given < -signed_rank || given >= signed_rank) {
    return bad("axis " + std::to_string(given) + " is outside of a tensor of " +
               std::to_string(rank) + " dimensions");
  }
  return static_cast<std::size_t>(given < 0 ? given + signed_rank : given);
}

}  // namespace attune::runtime::host
