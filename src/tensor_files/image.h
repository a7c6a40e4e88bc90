// Pictures as inputs of models: binary PPM and PGM files, resized and scaled to what the input
// takes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "runtime/memory/tensor.h"

namespace attune::tensor_files {

struct Image {
  std::int64_t height = 0, width = 0, channels = 0;  // 1: grey, 3: red, green, blue
  std::vector<float> pixels = {};                    // [height, width, channels], from 0 to 255
};

Result<Image> parse_image(const std::string& bytes, const std::string& path);
Result<Image> read_image(const std::string& path);

// An element of the input is (pixel * scale - mean) / deviation.
struct ImageOptions {
  double scale = 0;                               // 0: 1/255 for floats, 1 for integers
  std::vector<double> mean = {}, deviation = {};  // one for all channels, or one each; empty: 0, 1
  bool nearest = false;                           // resize by the nearest pixel instead of linearly
};

// The image for an input of this type and shape: [n,c,h,w], [n,h,w,c], or either without n, with
// one or three channels; every n gets the same.
Result<runtime::Tensor> image_input(const Image& image, runtime::DType type,
                                    const std::vector<std::int64_t>& shape,
                                    const ImageOptions& options, const std::string& name);

}  // namespace attune::tensor_files
