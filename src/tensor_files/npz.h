// Several tensors in one .npz file, as numpy.savez and numpy.savez_compressed write it: a ZIP
// archive of .npy files.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "runtime/memory/tensor.h"

namespace attune::tensor_files {

struct NpzMember {
  std::string name = {};  // without the suffix .npy
  runtime::Tensor tensor = {};
};

// `path` is for messages only.
Result<std::vector<NpzMember>> parse_npz(const std::string& bytes, const std::string& path);
Result<std::vector<NpzMember>> read_npz(const std::string& path);

}  // namespace attune::tensor_files
