#include "runtime/memory/tensor.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>

namespace attune::runtime {
namespace {

TEST(Dlpack, LayoutMatchesTheStandard) {
  EXPECT_EQ(sizeof(DLTensor), 48u);
  EXPECT_EQ(offsetof(DLTensor, ndim), 16u);
  EXPECT_EQ(offsetof(DLTensor, shape), 24u);
  EXPECT_EQ(offsetof(DLTensor, byte_offset), 40u);
  EXPECT_EQ(offsetof(DLManagedTensor, deleter), 56u);
}

TEST(Tensor, IsAlignedAndZeroed) {
  for (std::int64_t elements : {1, 5, 1000, 1 << 20}) {
    auto tensor = Tensor::allocate(DType::F32, {elements});
    ASSERT_TRUE(tensor.ok());
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(tensor->data()) % 64, 0u);
    EXPECT_EQ(tensor->bytes(), static_cast<std::size_t>(elements) * 4);
    for (float value : tensor->as<float>()) ASSERT_EQ(value, 0.0f);
  }
}

TEST(Tensor, ScalarsAndEmptyTensors) {
  EXPECT_EQ(Tensor::allocate(DType::I64, {})->elements(), 1);
  EXPECT_EQ(Tensor::allocate(DType::I64, {3, 0, 1ll << 62})->elements(), 0);
}

TEST(Tensor, RefusesImpossibleShapes) {
  EXPECT_EQ(Tensor::allocate(DType::F32, {2, -1}).error().message,
            "shape 2x-1 has the negative extent -1");
  EXPECT_EQ(Tensor::allocate(DType::F32, {1ll << 31, 1ll << 31}).error().message,
            "a tensor of shape 2147483648x2147483648 needs more than 2^63 bytes");
  const auto huge = Tensor::allocate(DType::F32, {1ll << 58});
  ASSERT_FALSE(huge.ok());
  EXPECT_EQ(huge.error().code, ErrorCode::Exhausted);
  EXPECT_EQ(huge.error().message, "cannot allocate 1152921504606846976 bytes of memory");
}

TEST(Tensor, TravelsThroughDlpack) {
  auto tensor = Tensor::allocate(DType::I32, {2, 3});
  for (int i = 0; i < 6; ++i) tensor->as<std::int32_t>()[static_cast<std::size_t>(i)] = i;
  DLManagedTensor* managed = std::move(*tensor).release();
  std::int64_t shape[] = {3, 2};
  std::int64_t strides[] = {1, 3};  // the transpose
  DLTensor transposed = managed->dl_tensor;
  transposed.shape = shape;
  transposed.strides = strides;
  auto copy = Tensor::copy_of(transposed);
  ASSERT_TRUE(copy.ok());
  const std::int32_t expected[] = {0, 3, 1, 4, 2, 5};
  for (std::size_t i = 0; i < 6; ++i) EXPECT_EQ(copy->as<std::int32_t>()[i], expected[i]);
  managed->deleter(managed);
}

TEST(Tensor, RefusesForeignDlpackTypes) {
  EXPECT_EQ(from_dlpack({kDLFloat, 128, 1}).error().message,
            "tensor type with code 2, 128 bits and 1 lanes is not supported");
  for (int number = 0; number < kDTypeCount; ++number) {
    const auto type = static_cast<DType>(number);
    EXPECT_EQ(*from_dlpack(to_dlpack(type)), type);
  }
}

TEST(Memory, LiesInHugePagesWhereAskedTo) {
  constexpr std::size_t kBytes = 100'000, kHugePage = std::size_t{2} << 20;
  const auto huge = Memory::allocate(kBytes, Pages::Huge);
  ASSERT_TRUE(huge.ok());
  EXPECT_EQ(huge->bytes(), kBytes);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(huge->data()) % kHugePage, 0u);
  EXPECT_EQ(static_cast<const char*>(huge->data())[kBytes - 1], 0);
}

TEST(Workspace, GrowsAndIsReused) {
  Workspace workspace;
  EXPECT_EQ(*workspace.reserve(0), nullptr);
  void* first = *workspace.reserve(1000);
  EXPECT_EQ(*workspace.reserve(500), first);
  ASSERT_TRUE(workspace.reserve(5000).ok());
  EXPECT_GE(workspace.capacity(), 5000u);
}

}  // namespace
}  // namespace attune::runtime
