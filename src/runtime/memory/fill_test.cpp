#include "runtime/memory/fill.h"

#include <gtest/gtest.h>

#include <vector>

namespace attune::runtime {
namespace {

std::vector<float> floats(std::uint64_t seed, int buffer, std::int64_t elements) {
  std::vector<float> data(static_cast<std::size_t>(elements));
  fill(data.data(), DType::F32, elements, seed, buffer);
  return data;
}

TEST(Fill, IsTheSameEverywhere) {
  const std::vector<float> data = floats(1, 0, 3);
  EXPECT_EQ(data[0], 0x1.4ce69p-1f);
  EXPECT_EQ(data[1], -0x1.35192p-1f);
  EXPECT_EQ(data[2], 0x1.74b2bcp-1f);
}

TEST(Fill, DependsOnSeedAndBufferButNotOnLength) {
  EXPECT_EQ(floats(1, 0, 100), floats(1, 0, 100));
  EXPECT_NE(floats(1, 0, 100), floats(2, 0, 100));
  EXPECT_NE(floats(1, 0, 100), floats(1, 1, 100));
  const std::vector<float> longer = floats(7, 3, 1003);
  EXPECT_EQ(floats(7, 3, 100), std::vector<float>(longer.begin(), longer.begin() + 100));
}

TEST(Fill, FloatsAreUniformInMinusOneToOne) {
  const std::vector<float> data = floats(3, 0, 100000);
  double sum = 0.0;
  double squares = 0.0;
  for (float value : data) {
    ASSERT_GE(value, -1.0f);
    ASSERT_LT(value, 1.0f);
    sum += static_cast<double>(value);
    squares += static_cast<double>(value) * static_cast<double>(value);
  }
  EXPECT_NEAR(sum / 100000.0, 0.0, 0.01);
  EXPECT_NEAR(squares / 100000.0, 1.0 / 3.0, 0.01);
}

TEST(Fill, IntegersAreSmall) {
  for (DType type : {DType::I8, DType::U8, DType::I32, DType::I64, DType::Bool, DType::I16,
                     DType::U16, DType::U32, DType::U64}) {
    std::vector<char> data(8 * 1000);
    fill(data.data(), type, 1000, 5, 0);
    double low = 1e9;
    double high = -1e9;
    for (std::int64_t i = 0; i < 1000; ++i) {
      low = std::min(low, read_element(data.data(), type, i));
      high = std::max(high, read_element(data.data(), type, i));
    }
    const bool is_signed = name_of(type).front() == 'i';
    EXPECT_EQ(low, is_signed ? -8.0 : 0.0) << name_of(type);
    EXPECT_EQ(high, type == DType::Bool ? 1.0 : is_signed ? 7.0 : 15.0) << name_of(type);
  }
}

TEST(Fill, HalvesFollowTheFloats) {
  const std::vector<float> wide = floats(9, 2, 50);
  std::vector<std::uint16_t> half(50);
  fill(half.data(), DType::F16, 50, 9, 2);
  for (std::size_t i = 0; i < 50; ++i) EXPECT_EQ(half[i], half_from_float(wide[i]));
}

}  // namespace
}  // namespace attune::runtime
