#include "compiler/frontend/onnx/proto/tensor_bytes.h"

#include <gtest/gtest.h>

#include <cstring>

#include "compiler/frontend/onnx/proto/onnx.pb.h"

namespace attune::onnx_proto {
namespace {

using ::onnx::TensorProto;

TensorProto tensor_of(TensorProto::DataType type, std::initializer_list<std::int64_t> dims) {
  TensorProto tensor;
  tensor.set_name("t");
  tensor.set_data_type(type);
  for (const auto dim : dims) tensor.add_dims(dim);
  return tensor;
}

template <typename T>
std::vector<T> values_of(const TensorProto& tensor) {
  const auto bytes = tensor_bytes(tensor, {}, nullptr);
  EXPECT_TRUE(bytes.ok()) << bytes.error().message;
  if (!bytes.ok()) return {};
  std::vector<T> values(bytes->bytes.size() / sizeof(T));
  if (!values.empty()) std::memcpy(values.data(), bytes->bytes.data(), bytes->bytes.size());
  return values;
}

std::string error_of(const TensorProto& tensor, std::span<const std::byte> raw = {}) {
  const auto bytes = tensor_bytes(tensor, raw, nullptr);
  return bytes.ok() ? "fine" : bytes.error().message;
}

TEST(TensorBytes, TypedFieldsBecomePlainBytes) {
  auto floats = tensor_of(TensorProto::FLOAT, {2});
  floats.add_float_data(1.5f);
  floats.add_float_data(-2);
  EXPECT_EQ(values_of<float>(floats), (std::vector<float>{1.5f, -2}));

  auto doubles = tensor_of(TensorProto::DOUBLE, {1});
  doubles.add_double_data(0.1);
  EXPECT_EQ(values_of<double>(doubles), std::vector<double>{0.1});

  auto longs = tensor_of(TensorProto::INT64, {});
  longs.add_int64_data(-5);
  EXPECT_EQ(values_of<std::int64_t>(longs), std::vector<std::int64_t>{-5});

  auto unsigneds = tensor_of(TensorProto::UINT32, {1});
  unsigneds.add_uint64_data(4294967295u);
  EXPECT_EQ(values_of<std::uint32_t>(unsigneds), std::vector<std::uint32_t>{4294967295u});
}

TEST(TensorBytes, SmallTypesAreNarrowedFromInt32) {
  for (const auto type : {TensorProto::FLOAT16, TensorProto::BFLOAT16, TensorProto::UINT16}) {
    auto halves = tensor_of(type, {2});
    halves.add_int32_data(0x3c00);
    halves.add_int32_data(0xbc00);
    EXPECT_EQ(values_of<std::uint16_t>(halves), (std::vector<std::uint16_t>{0x3c00, 0xbc00}));
  }
  auto bytes = tensor_of(TensorProto::INT8, {2});
  bytes.add_int32_data(-1);
  bytes.add_int32_data(127);
  EXPECT_EQ(values_of<std::int8_t>(bytes), (std::vector<std::int8_t>{-1, 127}));
  auto nibbles = tensor_of(TensorProto::INT4, {3});
  nibbles.add_int32_data(0x21);
  nibbles.add_int32_data(0x03);
  EXPECT_EQ(values_of<std::uint8_t>(nibbles), (std::vector<std::uint8_t>{0x21, 0x03}));
}

TEST(TensorBytes, EveryTrueIsOne) {
  const std::byte raw[] = {std::byte{0}, std::byte{1}, std::byte{255}};
  const auto bools = tensor_bytes(tensor_of(TensorProto::BOOL, {3}), raw, nullptr);
  ASSERT_TRUE(bools.ok());
  EXPECT_EQ(bools->bytes[2], std::byte{1});
  EXPECT_EQ(raw[2], std::byte{255});
}

TEST(TensorBytes, RawDataIsAView) {
  const std::byte raw[8] = {};
  const auto tensor = tensor_bytes(tensor_of(TensorProto::FLOAT, {2}), raw, nullptr);
  ASSERT_TRUE(tensor.ok());
  EXPECT_EQ(tensor->bytes.data(), raw);
}

TEST(TensorBytes, EmptyTensorsHaveNoBytes) {
  EXPECT_EQ(values_of<float>(tensor_of(TensorProto::FLOAT, {3, 0})), std::vector<float>{});
}

TEST(TensorBytes, TheElementsMustFitTheShape) {
  const std::byte raw[8] = {};
  EXPECT_EQ(error_of(tensor_of(TensorProto::FLOAT, {3}), raw),
            "tensor 't' has 8 bytes of data, but float32 [3] needs 12");
  EXPECT_EQ(error_of(tensor_of(TensorProto::INT64, {})),
            "tensor 't' has 0 bytes of data, but int64 [] needs 8");
  EXPECT_EQ(error_of(tensor_of(TensorProto::FLOAT, {2, -1}), raw),
            "tensor 't' has the shape [2, -1], a dimension of which is negative");
  EXPECT_EQ(error_of(tensor_of(TensorProto::FLOAT, {1ll << 40, 1ll << 40}), raw),
            "tensor 't' has the shape [1099511627776, 1099511627776], which no memory holds");
}

TEST(TensorBytes, TypesWithoutNumbersAreRefused) {
  EXPECT_EQ(error_of(tensor_of(TensorProto::STRING, {1})), "tensor 't' holds strings");
  auto unknown = tensor_of(TensorProto::FLOAT, {1});
  unknown.set_data_type(99);
  EXPECT_EQ(error_of(unknown), "tensor 't' is of type 99, which ONNX does not define");
  EXPECT_EQ(data_type_name(TensorProto::BFLOAT16), "bfloat16");
}

}  // namespace
}  // namespace attune::onnx_proto
