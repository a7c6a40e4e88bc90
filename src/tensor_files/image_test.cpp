#include "tensor_files/image.h"

#include <gtest/gtest.h>

namespace attune::tensor_files {
namespace {

using runtime::DType;

// Two by two pixels: red, green, blue, white.
std::string picture() {
  return std::string("P6\n# a comment\n2 2\n255\n") + '\xff' + std::string(2, '\0') +
         std::string(1, '\0') + '\xff' + std::string(3, '\0') + "\xff\xff\xff\xff";
}

Image image() { return parse_image(picture(), "x.ppm").value(); }

std::vector<float> values(const Result<runtime::Tensor>& tensor) {
  EXPECT_TRUE(tensor.ok()) << tensor.error().message;
  const auto all = tensor->as<float>();
  return {all.begin(), all.end()};
}

TEST(Images, AreScaledAndLaidOut) {
  const std::vector<float> planes = {1, 0, 0, 1, 0, 1, 0, 1, 0, 0, 1, 1};
  EXPECT_EQ(values(image_input(image(), DType::F32, {1, 3, 2, 2}, {}, "x")), planes);
  const std::vector<float> pixels = {1, 0, 0, 0, 1, 0, 0, 0, 1, 1, 1, 1};
  EXPECT_EQ(values(image_input(image(), DType::F32, {2, 2, 3}, {.scale = 1.0 / 255}, "x")), pixels);
}

TEST(Images, AreNormalisedByChannel) {
  ImageOptions options;
  options.mean = {0.5, 0, 0};
  options.deviation = {0.5};
  const std::vector<float> planes = {1, -1, -1, 1, 0, 2, 0, 2, 0, 0, 2, 2};
  EXPECT_EQ(values(image_input(image(), DType::F32, {1, 3, 2, 2}, options, "x")), planes);
}

TEST(Images, AreResized) {
  const Image grey{1, 2, 1, {0, 255}};
  EXPECT_EQ(values(image_input(grey, DType::F32, {1, 1, 4}, {.nearest = true}, "x")),
            (std::vector<float>{0, 0, 1, 1}));
  EXPECT_EQ(values(image_input(grey, DType::F32, {1, 1, 4}, {}, "x")),
            (std::vector<float>{0, 0.25, 0.75, 1}));
}

TEST(Images, KeepPixelsForBytes) {
  const auto tensor = image_input(image(), DType::U8, {1, 2, 2, 3}, {}, "x");
  ASSERT_TRUE(tensor.ok());
  EXPECT_EQ(tensor->as<std::uint8_t>()[0], 255);
  EXPECT_EQ(tensor->as<std::uint8_t>()[1], 0);
}

TEST(Images, MayBeGreyForColourAndColourForGrey) {
  const Image grey{1, 1, 1, {51}};
  EXPECT_EQ(values(image_input(grey, DType::F32, {3, 1, 1}, {.scale = 1}, "x")),
            (std::vector<float>{51, 51, 51}));
  const auto dark = values(image_input(image(), DType::F32, {1, 2, 2}, {.scale = 1}, "x"));
  EXPECT_NEAR(dark[0], 0.299 * 255, 1e-3);
  EXPECT_NEAR(dark[3], 255, 1e-3);
}

TEST(Images, AreRefusedWithTheReason) {
  const auto message = [](const auto& result) {
    return result.ok() ? "no error" : result.error().message;
  };
  EXPECT_EQ(message(parse_image("hello", "x.ppm")),
            "'x.ppm' is not a binary PPM or PGM file: it does not begin like one");
  EXPECT_EQ(message(parse_image("P6 2 x", "x.ppm")),
            "'x.ppm' is not a binary PPM or PGM file: its header is damaged");
  EXPECT_EQ(message(parse_image("P5 9 9 255 abc", "x.ppm")),
            "'x.ppm' is not a binary PPM or PGM file: 9x9 pixels need 81 bytes, 3 are there");
  EXPECT_EQ(message(image_input(image(), DType::F32, {1, 784}, {}, "x")),
            "input 'x' has shape 1x784, which no image has");
  EXPECT_EQ(message(image_input(image(), DType::F32, {1, 3, 2, 2}, {.mean = {1, 2}}, "x")),
            "--mean has 2 numbers, the input has 3 channels");
}

}  // namespace
}  // namespace attune::tensor_files
