#include "runtime/memory/dtype.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace attune::runtime {
namespace {

TEST(DType, NamesRoundTrip) {
  for (const char* name : {"f32", "f16", "bf16", "i8", "u8", "i32", "i64", "bool", "f64", "i16",
                           "u16", "u32", "u64"}) {
    ASSERT_TRUE(parse_dtype(name).has_value()) << name;
    EXPECT_EQ(name_of(*parse_dtype(name)), name);
  }
  EXPECT_FALSE(parse_dtype("f8").has_value());
  EXPECT_EQ(byte_size(DType::BF16), 2u);
  EXPECT_EQ(byte_size(DType::I64), 8u);
}

TEST(Half, EveryValueRoundTrips) {
  for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
    const float value = float_from_half(static_cast<std::uint16_t>(bits));
    if (std::isnan(value)) {
      EXPECT_TRUE(std::isnan(float_from_half(half_from_float(value))));
    } else {
      EXPECT_EQ(half_from_float(value), bits);
    }
  }
}

TEST(Half, RoundsToNearestEven) {
  EXPECT_EQ(half_from_float(1.0f + 0x1.0p-11f), 0x3c00);  // tie, down to even
  EXPECT_EQ(half_from_float(1.0f + 0x1.8p-10f), 0x3c02);  // tie, up to even
  EXPECT_EQ(half_from_float(65519.0f), 0x7bff);           // largest finite
  EXPECT_EQ(half_from_float(65520.0f), 0x7c00);           // infinity
  EXPECT_EQ(half_from_float(0x1.0p-25f), 0);              // tie to zero
  EXPECT_EQ(half_from_float(-0x1.8p-24f), 0x8002);        // subnormal tie to even
  EXPECT_EQ(half_from_float(std::numeric_limits<float>::infinity()), 0x7c00);
}

TEST(Bfloat16, RoundsToNearestEven) {
  EXPECT_EQ(bfloat16_from_float(1.0f), 0x3f80);
  EXPECT_EQ(bfloat16_from_float(1.0f + 0x1.0p-8f), 0x3f80);
  EXPECT_EQ(bfloat16_from_float(1.0f + 0x1.8p-7f), 0x3f82);
  EXPECT_TRUE(std::isnan(float_from_bfloat16(bfloat16_from_float(std::nanf("")))));
}

TEST(Element, WritesAndReadsEveryType) {
  for (DType type : {DType::F32, DType::F16, DType::BF16, DType::I8, DType::I32, DType::I64,
                     DType::F64, DType::I16}) {
    alignas(8) char data[64] = {};
    write_element(data, type, 3, -5.0);
    EXPECT_EQ(read_element(data, type, 3), -5.0) << name_of(type);
    EXPECT_EQ(read_element(data, type, 2), 0.0) << name_of(type);
  }
  for (DType type : {DType::U8, DType::U16, DType::U32, DType::U64}) {
    alignas(8) char data[64] = {};
    write_element(data, type, 3, 200.0);
    EXPECT_EQ(read_element(data, type, 3), 200.0) << name_of(type);
    EXPECT_EQ(read_element(data, type, 2), 0.0) << name_of(type);
  }
  unsigned char flags[2] = {0, 0};
  write_element(flags, DType::Bool, 1, 9.0);
  EXPECT_EQ(flags[1], 1);
}

}  // namespace
}  // namespace attune::runtime
