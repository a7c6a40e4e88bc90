#include "compiler/frontend/onnx/proto/tensor_bytes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "compiler/frontend/onnx/proto/onnx.pb.h"

namespace attune::onnx_proto {
namespace {

using ::onnx::TensorProto;

// The field that holds the elements of a type when raw_data does not.
enum class Field { None, Float, Int32, Int64, Double, Uint64 };

struct TypeFacts {
  std::int32_t type;
  const char* name;
  int bits;
  Field field;
};
constexpr TypeFacts kTypes[] = {
    {TensorProto::FLOAT, "float32", 32, Field::Float},
    {TensorProto::UINT8, "uint8", 8, Field::Int32},
    {TensorProto::INT8, "int8", 8, Field::Int32},
    {TensorProto::UINT16, "uint16", 16, Field::Int32},
    {TensorProto::INT16, "int16", 16, Field::Int32},
    {TensorProto::INT32, "int32", 32, Field::Int32},
    {TensorProto::INT64, "int64", 64, Field::Int64},
    {TensorProto::STRING, "string", 0, Field::None},
    {TensorProto::BOOL, "bool", 8, Field::Int32},
    {TensorProto::FLOAT16, "float16", 16, Field::Int32},
    {TensorProto::DOUBLE, "float64", 64, Field::Double},
    {TensorProto::UINT32, "uint32", 32, Field::Uint64},
    {TensorProto::UINT64, "uint64", 64, Field::Uint64},
    {TensorProto::COMPLEX64, "complex64", 64, Field::Float},
    {TensorProto::COMPLEX128, "complex128", 128, Field::Double},
    {TensorProto::BFLOAT16, "bfloat16", 16, Field::Int32},
    {TensorProto::FLOAT8E4M3FN, "float8e4m3fn", 8, Field::Int32},
    {TensorProto::FLOAT8E4M3FNUZ, "float8e4m3fnuz", 8, Field::Int32},
    {TensorProto::FLOAT8E5M2, "float8e5m2", 8, Field::Int32},
    {TensorProto::FLOAT8E5M2FNUZ, "float8e5m2fnuz", 8, Field::Int32},
    {TensorProto::UINT4, "uint4", 4, Field::Int32},
    {TensorProto::INT4, "int4", 4, Field::Int32},
    {TensorProto::FLOAT4E2M1, "float4e2m1", 4, Field::Int32},
    {TensorProto::FLOAT8E8M0, "float8e8m0", 8, Field::Int32},
    {TensorProto::UINT2, "uint2", 2, Field::Int32},
    {TensorProto::INT2, "int2", 2, Field::Int32},
};

const TypeFacts* facts_of(std::int32_t type) {
  const auto* found = std::find_if(std::begin(kTypes), std::end(kTypes),
                                   [&](const TypeFacts& facts) { return facts.type == type; });
  return found == std::end(kTypes) ? nullptr : found;
}

std::string described(const TensorProto& tensor) {
  return tensor.name().empty() ? std::string("a tensor without a name")
                               : fmt::format("tensor '{}'", tensor.name());
}

std::string shape_text(const TensorProto& tensor) {
  return fmt::format("[{}]", fmt::join(tensor.dims().begin(), tensor.dims().end(), ", "));
}

// How many bytes the dimensions ask for.
Result<std::size_t> bytes_wanted(const TensorProto& tensor, int bits) {
  std::int64_t count = 1;
  bool empty = false;
  for (const std::int64_t dim : tensor.dims()) {
    if (dim < 0) {
      return invalid(fmt::format("{} has the shape {}, a dimension of which is negative",
                                 described(tensor), shape_text(tensor)));
    }
    if (dim == 0) empty = true;
    // 2^55 elements of at most 128 bits still count in 63 bits.
    if (dim > 0 &&
        (__builtin_mul_overflow(count, dim, &count) || count > (std::int64_t{1} << 55))) {
      return invalid(fmt::format("{} has the shape {}, which no memory holds", described(tensor),
                                 shape_text(tensor)));
    }
  }
  if (empty) return std::size_t{0};
  return static_cast<std::size_t>((count * bits + 7) / 8);
}

Error wrong_size(const TensorProto& tensor, const TypeFacts& facts, std::size_t want,
                 std::size_t have) {
  return {ErrorCode::Corrupt,
          fmt::format("{} has {} bytes of data, but {} {} needs {}", described(tensor), have,
                      facts.name, shape_text(tensor), want),
          {}};
}

// Narrows each value to `Narrow` and appends its bytes.
template <typename Narrow, typename List>
std::vector<std::byte> narrowed(const List& values) {
  std::vector<std::byte> bytes(static_cast<std::size_t>(values.size()) * sizeof(Narrow));
  std::byte* out = bytes.data();
  for (const auto value : values) {
    const auto narrow = static_cast<Narrow>(value);
    std::memcpy(out, &narrow, sizeof narrow);
    out += sizeof narrow;
  }
  return bytes;
}

std::vector<std::byte> from_typed_fields(const TensorProto& tensor, const TypeFacts& facts) {
  switch (facts.field) {
    case Field::Float:
      return narrowed<float>(tensor.float_data());
    case Field::Double:
      return narrowed<double>(tensor.double_data());
    case Field::Int64:
      return narrowed<std::int64_t>(tensor.int64_data());
    case Field::Uint64:
      return facts.bits == 32 ? narrowed<std::uint32_t>(tensor.uint64_data())
                              : narrowed<std::uint64_t>(tensor.uint64_data());
    case Field::Int32:
      if (facts.bits == 32) return narrowed<std::uint32_t>(tensor.int32_data());
      if (facts.bits == 16) return narrowed<std::uint16_t>(tensor.int32_data());
      return narrowed<std::uint8_t>(tensor.int32_data());
    case Field::None:
      break;
  }
  return {};
}

// Every true is 1, so that code generated for bool may rely on it.
void normalise_bools(TensorBytes& tensor) {
  const auto is_bool = [](std::byte b) { return b <= std::byte{1}; };
  if (std::all_of(tensor.bytes.begin(), tensor.bytes.end(), is_bool)) return;
  auto copy = std::make_shared<std::vector<std::byte>>(tensor.bytes.begin(), tensor.bytes.end());
  for (std::byte& b : *copy) b = std::min(b, std::byte{1});
  tensor.bytes = *copy;
  tensor.owner = std::move(copy);
}

}  // namespace

std::int64_t TensorBytes::elements() const {
  std::int64_t count = 1;
  for (const std::int64_t dim : dims) count *= dim;
  return count;
}

std::string data_type_name(std::int32_t data_type) {
  const TypeFacts* facts = facts_of(data_type);
  return facts ? facts->name : fmt::format("type {}", data_type);
}

Result<TensorBytes> tensor_bytes(const TensorProto& tensor, std::span<const std::byte> raw,
                                 std::shared_ptr<const void> owner) {
  const TypeFacts* facts = facts_of(tensor.data_type());
  if (!facts) {
    return invalid(fmt::format("{} is of {}, which ONNX does not define", described(tensor),
                               data_type_name(tensor.data_type())));
  }
  if (facts->bits == 0) {
    return unsupported(fmt::format("{} holds strings", described(tensor)),
                       "Attune computes with numbers only");
  }
  if (tensor.has_segment()) {
    return unsupported(fmt::format("{} is stored in segments", described(tensor)));
  }
  ATTUNE_ASSIGN(const std::size_t want, bytes_wanted(tensor, facts->bits));
  TensorBytes result{tensor.name(),
                     tensor.data_type(),
                     {tensor.dims().begin(), tensor.dims().end()},
                     raw,
                     std::move(owner)};
  if (raw.empty() && want > 0) {
    auto copy = std::make_shared<std::vector<std::byte>>(from_typed_fields(tensor, *facts));
    result.bytes = *copy;
    result.owner = std::move(copy);
  }
  if (result.bytes.size() != want) {
    return wrong_size(tensor, *facts, want, result.bytes.size());
  }
  if (tensor.data_type() == TensorProto::BOOL) normalise_bools(result);
  return result;
}

}  // namespace attune::onnx_proto
