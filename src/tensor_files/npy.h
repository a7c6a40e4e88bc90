// Tensors as .npy files, the format of NumPy: versions 1 to 3, little-endian, C order. bf16, which
// NumPy does not have, is read from and written as f32.
#pragma once

#include <string>

#include "base/result.h"
#include "runtime/memory/tensor.h"

namespace attune::tensor_files {

// The file's tensor in its own type; `path` is for messages only.
Result<runtime::Tensor> parse_npy(const std::string& bytes, const std::string& path);
Result<runtime::Tensor> read_npy(const std::string& path);

std::string npy_bytes(const runtime::Tensor& tensor);
// The file appears whole or not at all.
Status write_npy(const std::string& path, const runtime::Tensor& tensor);

}  // namespace attune::tensor_files
