#include "tensor_files/npy.h"

#include <gtest/gtest.h>

namespace attune::tensor_files {
namespace {

using runtime::DType;
using runtime::Tensor;

// A file as NumPy writes it, with a header of this text.
std::string file_of(const std::string& header, const std::string& data) {
  std::string bytes("\x93NUMPY\x01\x00", 8);
  bytes += static_cast<char>(header.size());
  bytes += '\0';
  return bytes + header + data;
}

std::string message(const std::string& bytes) {
  const Result<Tensor> tensor = parse_npy(bytes, "x.npy");
  return tensor.ok() ? "no error" : tensor.error().message;
}

TEST(Npy, RoundTripsEveryType) {
  for (DType type :
       {DType::F32, DType::F16, DType::I8, DType::U8, DType::I32, DType::I64, DType::Bool}) {
    for (const std::vector<std::int64_t>& shape :
         std::vector<std::vector<std::int64_t>>{{}, {5}, {2, 3}, {2, 0, 3}}) {
      Tensor tensor = Tensor::allocate(type, shape).value();
      for (std::int64_t i = 0; i < tensor.elements(); ++i) {
        runtime::write_element(tensor.data(), type, i, static_cast<double>(i % 2));
      }
      const std::string bytes = npy_bytes(tensor);
      EXPECT_EQ((bytes.size() - tensor.bytes()) % 64, 0u);
      const Result<Tensor> back = parse_npy(bytes, "x.npy");
      ASSERT_TRUE(back.ok()) << back.error().message;
      EXPECT_EQ(back->type(), type);
      EXPECT_EQ(std::vector<std::int64_t>(back->shape().begin(), back->shape().end()), shape);
      EXPECT_EQ(npy_bytes(*back), bytes);
    }
  }
}

TEST(Npy, WritesBfloat16AsFloat) {
  Tensor tensor = Tensor::allocate(DType::BF16, {1}).value();
  runtime::write_element(tensor.data(), DType::BF16, 0, 1.5);
  const Result<Tensor> back = parse_npy(npy_bytes(tensor), "x.npy");
  ASSERT_TRUE(back.ok());
  EXPECT_EQ(back->type(), DType::F32);
  EXPECT_EQ(back->as<float>()[0], 1.5f);
}

TEST(Npy, RefusesWhatIsNotAFile) {
  EXPECT_EQ(message(""), "'x.npy' is not a .npy file: it does not begin like one");
  EXPECT_EQ(message("hello, hello, hello"),
            "'x.npy' is not a .npy file: it does not begin like one");
  EXPECT_EQ(message(file_of("{'descr': '<f4'", "").substr(0, 14)),
            "'x.npy' is not a .npy file: it ends in its header");
  EXPECT_EQ(message(file_of("{'descr': '<f4'}", "")),
            "'x.npy' is not a .npy file: its header is incomplete");
  EXPECT_EQ(message(file_of("{'descr': '<f4', 'fortran_order': False, 'shape': (2, -1)}", "")),
            "'x.npy' is not a .npy file: its shape makes no sense");
  EXPECT_EQ(message(file_of("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3)}", "abc")),
            "'x.npy' is not a .npy file: shape [2, 3] needs 24 bytes, 3 are there");
}

TEST(Npy, RefusesWhatNoTensorCanBe) {
  EXPECT_EQ(message(file_of("{'descr': '>f4', 'fortran_order': False, 'shape': (1,)}", "abcd")),
            "'x.npy' holds elements of type '>f4', which no tensor can have");
  EXPECT_EQ(message(file_of("{'descr': '<c8', 'fortran_order': False, 'shape': (1,)}", "12345678")),
            "'x.npy' holds elements of type '<c8', which no tensor can have");
  EXPECT_EQ(message(file_of("{'descr': '<f4', 'fortran_order': True, 'shape': (1,)}", "abcd")),
            "'x.npy' is in Fortran order");
}

}  // namespace
}  // namespace attune::tensor_files
