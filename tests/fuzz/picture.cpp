// Pictures, made into the input of a model.
#include "tensor_files/image.h"
#include "tests/fuzz/harness.h"

namespace attune::fuzz {

void fuzz_picture(std::string_view bytes) {
  const auto image = tensor_files::parse_image(std::string(bytes), "x.ppm");
  if (!image.ok()) return;
  (void)tensor_files::image_input(*image, runtime::DType::F32, {1, 3, 5, 4}, {}, "x");
}

}  // namespace attune::fuzz
